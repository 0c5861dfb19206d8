"""What is left on the machine of a guest that is gone, found by the UIDs of its pod and its instance: nothing may be."""

import subprocess
import time
from collections.abc import Collection, Iterator
from pathlib import Path

LIMIT_S = 60.0
"""Within which the last of it goes: whoever frees a folder does so a moment after the object is gone."""


def assert_none(home: Path, uids: Collection[str]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while found := sorted(of(home, uids)):
        assert time.monotonic() < deadline, f"left behind: {found}"
        time.sleep(0.1)


def of(home: Path, uids: Collection[str]) -> Iterator[str]:
    """Processes, mounts, control groups, links and rules of the network, files."""
    if not uids:
        return
    yield from _processes(uids)
    for kind, lines in (
        ("mount", Path("/proc/self/mountinfo").read_text().splitlines()),
        ("control group", _said("find", "/sys/fs/cgroup", "-type", "d")),
        ("link", _said("ip", "-details", "-oneline", "link")),
        ("rule", _said("nft", "list", "ruleset")),
        # Files by their names: logs and the store of the API server may well tell of it.
        ("file", _said("find", str(home), "-xdev", "-path", "*-*-*-*-*")),
    ):
        yield from (f"{kind} {line.strip()}" for line in lines if any(uid in line for uid in uids))


def _processes(uids: Collection[str]) -> Iterator[str]:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            groups = (process / "cgroup").read_text()
        except OSError:
            continue
        if any(uid in words or uid in groups for uid in uids):
            yield f"process {process.name} {words[:200]}"


def _said(*words: str) -> list[str]:
    """Also of a search during which something goes away."""
    return subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=60
    ).stdout.splitlines()
