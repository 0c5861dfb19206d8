"""`down --delete-data`: what is the home's goes, and nothing else."""

import subprocess

import pytest
from tests.component.embedded.process.conftest import Virtctl

pytestmark = pytest.mark.timeout(180)


def test_data_is_removed_only_from_the_disk_of_the_home(virtctl: Virtctl) -> None:
    """Somebody gave volumes a disk of their own."""
    virtctl.up()
    assert virtctl("down").code == 0
    volumes = str(virtctl.home.volumes)
    subprocess.run(["mount", "-t", "tmpfs", "none", volumes], check=True, timeout=30)
    try:
        precious = virtctl.home.volumes / "precious"
        precious.write_text("years of work")
        assert virtctl("up").code == 0
        assert virtctl("down").code == 0
        assert precious.exists()
        refused = virtctl("down", "--delete-data")
        assert refused.code == 1
        assert f"a file system is mounted at {volumes}" in refused.err
        assert "Traceback" not in refused.err
        assert precious.exists()
        assert "name: kubevirt" in virtctl.kubeconfig.read_text()
    finally:
        subprocess.run(["umount", volumes], check=True, timeout=30)
    done = virtctl("down", "--delete-data")
    assert done.code == 0, done.err
    assert not virtctl.home.path.exists()


def test_a_disk_that_is_a_home_is_emptied_and_stays_mounted(virtctl: Virtctl) -> None:
    home = virtctl.home.path
    home.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", str(home)], check=True, timeout=30)
    try:
        virtctl.up()
        done = virtctl("down", "--delete-data")
        assert done.code == 0, done.err
        assert list(home.iterdir()) == []
    finally:
        subprocess.run(["umount", str(home)], check=True, timeout=30)
