"""What the guest's suites stand on: the images, and a short folder for sockets."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from guestimage import image


@pytest.fixture(scope="session")
def images(guest_images: image.Images) -> image.Images:
    """A shorter name, where nothing else could be meant."""
    return guest_images


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose path is short enough for unix sockets, which pytest's own may not be."""
    path = Path(tempfile.mkdtemp(prefix="guest-"))
    yield path
    shutil.rmtree(path)
