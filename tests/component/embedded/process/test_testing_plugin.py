"""Whoever builds on KubeVirt gets a home for their tests by naming our plugin."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.component.embedded.process.leftovers import left_of

THEIR_TEST = """
from kubevirt.api.scheme import KUBEVIRTS
from kubevirt.embedded.home import Home

async def test_it_is_there(kubevirt_home):
    async with kubevirt_home.client() as api:
        assert await api.get(KUBEVIRTS, "kubevirt", "kubevirt")
    assert kubevirt_home.virtctl("version", "--client").code == 0

def test_it_is_everybodys(kubevirt_home, pytestconfig):
    path = kubevirt_home.path
    (pytestconfig.rootpath / "where").write_text(f"{path} {Home(path).id}")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="an embedded home is root's: run as root")
def test_the_fixture_gives_a_home_of_which_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "test_theirs.py").write_text(THEIR_TEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n")
    words = ["-p", "kubevirt.testing.pytest_plugin", "-p", "no:cacheprovider", "-p", "no:randomly"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *words, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=170,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
    path, home_id = (tmp_path / "where").read_text().split()
    assert not Path(path).parent.exists()
    assert not (left := left_of(Path(path), home_id)), left
