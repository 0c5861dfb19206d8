"""scripts/soak.sh: one part that fails does not keep the others from running, and is not forgotten either."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SOAK = Path(__file__).parents[3] / "scripts/soak.sh"
NOTING = """#!/bin/sh
echo "$*" >>ran
case "$*" in *"$FAILING"*) exit 3 ;; esac
"""
"""In the place of each program that it calls."""
PROGRAMS = (".venv/bin/python", ".venv/bin/pytest", "guest/anew.sh")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    shutil.copy(SOAK, tmp_path / "scripts")
    for name in PROGRAMS:
        program = tmp_path / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(NOTING)
        program.chmod(0o755)
    return tmp_path


def soaked(
    checkout: Path, failing: str = "nothing", upstream: str = "", **more: str
) -> tuple[int, str, str]:
    """Exit code, what ran, and what was said."""
    done = subprocess.run(
        [checkout / "scripts/soak.sh"],
        env={**os.environ, "FAILING": failing, "KUBEVIRT_UPSTREAM": upstream, **more},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, (checkout / "ran").read_text(), done.stderr


def test_all_parts_run_and_it_ends_well(checkout: Path) -> None:
    code, ran, said = soaked(checkout)
    assert code == 0
    assert "failed" not in said
    assert "e2e -- --separate" in ran
    assert "tests/cluster/test_vm.py" in ran
    assert len(ran.splitlines()) > len(PROGRAMS)


def test_a_part_that_fails_is_named_at_the_end_and_the_others_run(checkout: Path) -> None:
    """The first failure ended it all, and an hour later nobody knew of the rest."""
    everything = len(soaked(checkout)[1].splitlines())
    (checkout / "ran").unlink()
    code, ran, said = soaked(checkout, failing="tests.e2e.faults.soak")
    assert code == 1
    assert len(ran.splitlines()) == everything
    last = said.partition("soak: these failed:\n")[2]
    assert last == "soak:   what stands beside a guest is killed\n"


def test_the_examples_of_upstream_run_where_they_are(checkout: Path) -> None:
    _, ran, said = soaked(checkout)
    assert "tests/e2e/examples" not in ran
    assert "left out: KubeVirt's own examples; set KUBEVIRT_UPSTREAM" in said
    assert "tests/e2e/examples" in soaked(checkout, upstream="/somewhere")[1]


def test_kubevirts_own_virtctl_is_tried_where_it_may_be_built(checkout: Path) -> None:
    theirs = "tests/e2e/vms/test_upstream_virtctl.py"
    _, ran, said = soaked(checkout, SOAK_UPSTREAM_VIRTCTL="")
    assert theirs not in ran
    assert "left out: KubeVirt's own virtctl; SOAK_UPSTREAM_VIRTCTL=1" in said
    assert theirs in soaked(checkout, SOAK_UPSTREAM_VIRTCTL="1")[1]
