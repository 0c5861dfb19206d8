"""Runs the suites in order and ends with one table.

A suite is a folder below tests/ that holds tests, or one of several ways to run them. Each has a pytest
run of its own, in random order, on all cores where its tests can share the machine. Nothing is left out
in silence: what was skipped stands below the table with its reason, and a suite in which no test ran
has failed.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[1]
KUBERNETES = "k8s-1.34"
"""The provider of cluster-up that is built."""
_FAILED = ("failure", "error")
"""How JUnit's report calls it."""
_TELLING = re.compile(r">|E  |(?:tests|src|cluster-up|bench|scripts)/\S+:\d+: ")
"""Beginnings of those lines of a traceback that say what went wrong, and where in our own code."""
_LINES = 16
"""Of a traceback, the last ones."""
_WIDTH = 300


@dataclass(frozen=True)
class Suite:
    name: str
    parallel: bool = True
    """Whether its tests may run side by side; those that own the machine may not."""
    programs: Sequence[str] | None = None
    """Arguments for cluster-up's builder, where Kubernetes' programs are needed."""
    needs_root: bool = False
    folder: str = ""
    """Below tests/, where that is not its name: one folder may be run in several ways."""
    options: Sequence[str] = ()
    """For pytest."""
    waits: int = 0
    """How many more of its tests run at a time than there are cores, because they wait for others."""

    @property
    def workers(self) -> int:
        return len(os.sched_getaffinity(0)) + self.waits

    @property
    def tests(self) -> str:
        return self.folder or self.name


# From the quickest to the slowest: who broke something basic hears of it first.
KNOWN = (
    Suite("unit"),
    Suite("property"),
    # Tests that share a server which is like no other, or what is costly to make, stay together.
    Suite("contract", programs=["--light"], options=["--dist=loadgroup"], waits=1),
    Suite(
        "embedded",
        programs=["--light"],
        folder="contract",
        options=["--server=embedded", "--dist=loadgroup"],
        waits=1,
    ),
    Suite("component", programs=["--light"], options=["--dist=loadgroup"], waits=1),
    Suite("guest", waits=1),
    Suite("pods", programs=["--light"], needs_root=True, options=["--home=embedded"], waits=1),
    Suite(
        "oracle",
        programs=[],
        needs_root=True,
        folder="pods",
        options=["--home=kubernetes"],
        waits=3,
    ),
    # Tests that share a cluster stay together: three at a time are what a kernel's inotify allows.
    Suite("cluster", programs=[], needs_root=True, options=["--dist=loadgroup"], waits=1),
    # Tests of a module that share a guest stay together.
    Suite("e2e", needs_root=True, options=["--dist=loadgroup"], waits=1),
)


@dataclass
class Outcome:
    """What became of a suite."""

    suite: str
    passed: int = 0
    failed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    """Reason by reason."""
    seconds: float = 0.0
    problem: str = ""
    """Why there is no result to count, if there is none."""
    failures: list[str] = field(default_factory=list)
    """Each that failed with what it said, and the telling lines of where."""


class Interrupted(Exception):  # noqa: N818  # somebody wanted it
    pass


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    ours, pytest_options = _split(arguments)
    suites = suites_in(root)
    chosen = _parser(suites).parse_args(ours).suites or list(suites)
    if unknown := [name for name in chosen if name not in suites]:
        print(f"test: there is no suite {unknown[0]}; there are: {', '.join(suites)}")
        return 2
    outcomes: list[Outcome] = []
    try:
        with tempfile.TemporaryDirectory(prefix="kubevirt-test-") as folder:
            for name in chosen:
                report = Path(folder) / f"{name}.xml"
                outcomes.append(run(suites[name], root, report, pytest_options))
    except Interrupted:
        print(summary(outcomes))
        return 130
    print(summary(outcomes))
    return 1 if any(each.failed for each in outcomes) else 0


def suites_in(root: Path) -> Mapping[str, Suite]:
    """The suites that exist. One that nobody has thought of here runs too, at the end, alone."""
    folders = (root / "tests").iterdir()
    found = {each.name for each in folders if each.is_dir() and any(each.rglob("test_*.py"))}
    known = [suite for suite in KNOWN if suite.tests in found]
    others = sorted(found - {suite.tests for suite in KNOWN} - {"perf"})  # perf is `make bench`
    return {
        suite.name: suite for suite in (*known, *(Suite(name, parallel=False) for name in others))
    }


def run(suite: Suite, root: Path, report: Path, pytest_options: Sequence[str]) -> Outcome:
    print(f"\ntest: {suite.name}", flush=True)
    if suite.needs_root and os.geteuid() != 0:
        reason = f"the whole suite needs root: sudo make test SUITES={suite.name}"
        return Outcome(suite.name, skipped=Counter([reason]))
    began = time.monotonic()
    if suite.programs is not None and not build(suite, root):
        problem = "Kubernetes' programs could not be built; the builder says why above"
        return Outcome(suite.name, failed=1, seconds=time.monotonic() - began, problem=problem)
    command = [sys.executable, "-m", "pytest", f"tests/{suite.tests}", f"--junitxml={report}", "-q"]
    command += suite.options
    command += [f"--numprocesses={suite.workers}"] if suite.parallel else []
    code = _call([*command, *pytest_options], root, environment())
    outcome = read(suite.name, report, code)
    outcome.seconds = time.monotonic() - began
    return outcome


def environment() -> dict[str, str]:
    """For pytest: ours, but what is compiled is kept. Otherwise each worker rewrites every test that it collects
    anew, and each program that a test starts compiles the house: minutes of a processor in all.
    """
    unwanted = "PYTHONDONTWRITEBYTECODE"
    return {name: value for name, value in os.environ.items() if name != unwanted}


def build(suite: Suite, root: Path) -> bool:
    """Builds what a test cluster is made of, once: minutes the first time, then nothing."""
    # Whatever provider the user chose for `make cluster-up`: suites run on this one.
    env = {**os.environ, "KUBE_PROVIDER": KUBERNETES}
    return (
        _call([str(root / "cluster-up/cli.sh"), "build", *(suite.programs or ())], root, env) == 0
    )


def read(suite: str, report: Path, code: int) -> Outcome:
    """Counts the tests in pytest's report; `code` is how pytest itself ended."""
    outcome = Outcome(suite)
    for case in _cases(report):
        skipped = case.find("skipped")
        failure = next((found for tag in _FAILED if (found := case.find(tag)) is not None), None)
        if failure is not None:
            outcome.failed += 1
            outcome.failures.append(_in_short(case, failure))
        elif skipped is not None:
            outcome.skipped[skipped.get("message", "without a reason")] += 1
        else:
            outcome.passed += 1
    if not outcome.failed and code != 0:
        outcome.failed = 1
        outcome.problem = "no test ran" if code == 5 else f"pytest ended with exit code {code}"
    return outcome


def summary(outcomes: Sequence[Outcome]) -> str:
    lines = ["", f"{'suite':<12}{'passed':>8}{'failed':>8}{'skipped':>8}{'seconds':>9}"]
    for each in outcomes:
        counts = f"{each.passed:>8}{each.failed:>8}{each.skipped.total():>8}{each.seconds:>9.1f}"
        lines.append(f"{each.suite:<12}{counts}")
    lines += [f"\n{each.suite}: {each.problem}" for each in outcomes if each.problem]
    for each in outcomes:
        if each.failures:
            lines += [f"\nfailed in {each.suite}:", *each.failures]
    for each in outcomes:
        if each.skipped:
            lines.append(f"\nskipped in {each.suite}:")
            lines += [f"{count:>6}  {reason}" for reason, count in each.skipped.most_common()]
    passed, failed = sum(each.passed for each in outcomes), sum(each.failed for each in outcomes)
    skipped = sum(each.skipped.total() for each in outcomes)
    return "\n".join([*lines, "", f"{passed} passed, {failed} failed, {skipped} skipped"])


def _parser(suites: Iterable[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/test.py",
        description="Run the test suites, each with pytest, and print one table at the end.",
        epilog="What follows -- goes to pytest: scripts/test.py unit -- -x -k quantity",
    )
    parser.add_argument(
        "suites", metavar="suite", nargs="*", help=f"{', '.join(suites)}; default: all"
    )
    return parser


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    words = list(arguments)
    end = words.index("--") if "--" in words else len(words)
    return words[:end], words[end + 1 :]


def _in_short(case: ET.Element, failure: ET.Element) -> str:
    trace = (failure.text or "").splitlines()
    said = (failure.get("message") or "").strip().splitlines() or trace[:1] or [""]
    place = [line for line in trace if _TELLING.match(line)][-_LINES:]
    name = f"  {case.get('classname', '')}::{case.get('name', '')}: {said[0][:_WIDTH]}"
    return "\n".join([name, *(f"      {line[:_WIDTH]}" for line in place)])


def _cases(report: Path) -> Sequence[ET.Element]:
    if not report.exists():
        return ()
    tree = ET.parse(report)  # noqa: S314  # pytest wrote it, a moment ago
    return list(tree.iter("testcase"))


def _call(command: Sequence[str], folder: Path, env: Mapping[str, str] | None = None) -> int:
    """Runs a program with our own output. Ctrl-C reaches it too, and what ends us is passed on to it; it gets
    the time to clean up.
    """
    process = subprocess.Popen(command, cwd=folder, env=env)
    interrupted = False

    def pass_on(number: int, _: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        process.send_signal(number)

    before = signal.signal(signal.SIGTERM, pass_on)
    while process.returncode is None:
        try:
            process.wait()
        except KeyboardInterrupt:
            interrupted = True
    signal.signal(signal.SIGTERM, before)
    if interrupted:
        raise Interrupted
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
