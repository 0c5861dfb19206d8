"""The same inputs give the same bytes, wherever and by whomever they are put together.

The kernel is taken as it is: compiling it twice takes minutes, see docs/guest.md for how that was
compared.
"""

import dataclasses
import os
from pathlib import Path

import pytest

from guestimage import image, progress, settings


@pytest.mark.timeout(300)
def test_two_builds_in_different_folders_are_equal(images: image.Images, tmp_path: Path) -> None:
    wanted = image.recipe()
    ours = settings.from_environment(os.environ)
    elsewhere = dataclasses.replace(ours, cache=tmp_path / "another" / "place")
    (elsewhere.cache / "kernel").parent.mkdir(parents=True)
    for kept in ("kernel", "packages"):
        (elsewhere.cache / kept).symlink_to(ours.cache / kept)
    again = image.build(wanted, elsewhere, progress.Progress())
    assert again.folder != images.folder
    assert image.sums(again.folder) == image.sums(images.folder)


def test_no_path_of_this_machine_is_in_the_images(images: image.Images) -> None:
    for path in images.folder.glob("*.img"):
        content = path.read_bytes()
        assert str(settings.SOURCES).encode() not in content
        assert str(images.folder).encode() not in content


@pytest.mark.parametrize("name", ["cirros", "cirros-without-agent", "alpine", "fedora"])
def test_an_image_is_at_most_twelve_megabytes(images: image.Images, name: str) -> None:
    assert (images.folder / f"{name}.qcow2").stat().st_size <= 12_000_000
