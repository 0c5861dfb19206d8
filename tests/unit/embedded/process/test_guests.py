"""Which of the guests that were built a home gets to know."""

import os
from pathlib import Path

from kubevirt.embedded.process.guests import archives


def test_the_newest_of_them_counts(tmp_path: Path) -> None:
    for number, name in enumerate(("old", "new", "older")):
        (tmp_path / "guest" / "image" / name).mkdir(parents=True)
        os.utime(tmp_path / "guest" / "image" / name, (0, [5, 9, 1][number]))
    assert archives({"KUBEVIRT_CACHE": str(tmp_path)}) == (tmp_path / "guest/image/new",)


def test_one_that_is_built_later_is_found_too(tmp_path: Path) -> None:
    expected = tmp_path / "kubevirt-py" / "guest" / "image"
    assert archives({"XDG_CACHE_HOME": str(tmp_path)}) == (expected,)
    assert archives({"HOME": str(tmp_path)}) == (
        tmp_path / ".cache" / "kubevirt-py" / "guest" / "image",
    )


def test_guests_that_are_being_built_do_not_hide_those_that_are_there(tmp_path: Path) -> None:
    for name in ("built", ".next.building"):
        (tmp_path / "guest" / "image" / name).mkdir(parents=True)
    os.utime(tmp_path / "guest" / "image" / "built", (0, 1))
    assert archives({"KUBEVIRT_CACHE": str(tmp_path)}) == (tmp_path / "guest/image/built",)
