"""Mount points out of the kernel's table."""

from pathlib import Path

from kubevirt.host import mounts

TABLE = rb"""27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 27 0:25 / /home/pods rw - tmpfs tmpfs rw
31 30 0:26 / /home/pods/a\040b rw shared:1 - tmpfs tmpfs rw
32 31 0:27 /x /home/pods/a\040b/c\134d rw master:1 - tmpfs tmpfs rw
33 27 0:28 / /home/pods-of-others rw - tmpfs tmpfs rw
"""


def test_only_what_is_in_the_folder_is_found_the_outermost_first() -> None:
    assert mounts.points(TABLE, Path("/home/pods")) == [
        Path("/home/pods/a b"),
        Path("/home/pods/a b/c\\d"),
    ]


def test_what_is_not_mounted_is_not_unmounted(tmp_path: Path) -> None:
    assert not mounts.unmount(tmp_path)
    assert not mounts.unmount(tmp_path / "none")
    assert mounts.unmount_below(tmp_path) == 0
