"""How suites get the guest, seen from outside: a pytest run of its own, with a build that is told."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from guestimage import settings

pytestmark = pytest.mark.timeout(200)

CONFTEST = """
import time
from pathlib import Path
from guestimage import errors, image

pytest_plugins = ["guestimage.pytest_plugin"]

def ready(environ, say):
    say.say("building")
    {outcome}

image.ready = ready
"""

TESTS = """
import pytest

@pytest.mark.timeout(4)
def test_with(guest_images):
    assert guest_images.raw

def test_without():
    pass
"""


def run_suite(folder: Path, outcome: str, *options: str) -> str:
    (folder / "conftest.py").write_text(CONFTEST.format(outcome=outcome))
    (folder / "test_some.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider"),
            *("-p", "pytest_timeout", *options, str(folder)),
        ],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(settings.SOURCES),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=150,
        check=False,
    )
    return done.stdout


def test_the_time_of_a_build_is_no_tests_time_and_its_progress_is_seen(tmp_path: Path) -> None:
    said = run_suite(tmp_path, "time.sleep(5); return image.Images(Path())")
    assert "2 passed" in said
    assert "guest-image: building" in said


def test_workers_build_once_and_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, temporary = tmp_path / "told", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    outcome = f"open({str(told)!r}, 'a').write('built '); return image.Images(Path())"
    assert "2 passed" in run_suite(tmp_path, outcome, "-p", "xdist.plugin", "-n2")
    assert told.read_text() == "built "
    assert not list(temporary.glob("guest-image-*"))


@pytest.mark.parametrize("options", [["--collect-only"], ["-k", "without"]])
def test_nothing_is_built_that_no_test_wants(tmp_path: Path, options: list[str]) -> None:
    assert "building" not in run_suite(tmp_path, "raise AssertionError", *options)


def test_a_machine_that_cannot_build_skips_with_the_reason(tmp_path: Path) -> None:
    said = run_suite(tmp_path, "raise errors.ToolMissing('mcopy')")
    assert "1 passed, 1 skipped" in said
    assert "mcopy is not installed" in said


def test_a_build_that_fails_fails_those_who_wanted_it(tmp_path: Path) -> None:
    said = run_suite(tmp_path, "raise errors.GuestError('the compiler is unwell')")
    assert "1 passed, 1 error" in said
    assert "the compiler is unwell" in said
