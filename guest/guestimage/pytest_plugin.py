"""The guest for any suite: ask for the fixture `guest_images`.

    async def test_it_boots(guest_images: Images) -> None:
        guest_images.qcow2(guests.CIRROS)     # the disk as users get it; `raw` is the same, not compressed
        guest_images.archive("cirros")        # as a container disk: an OCI archive under the known names
        guest_images.kernel, guest_images.initramfs

Name this module in `pytest_plugins` of the top-level conftest. The images are read-only and shared by
everyone; a test that writes works on a copy or an overlay.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from guestimage import errors, image, progress

_BUILT = pytest.StashKey[image.Images | errors.GuestError]()
_FOLDER = pytest.StashKey[Path]()
_SHARED = "guest_folder"


@pytest.fixture(scope="session")
def guest_images(pytestconfig: pytest.Config) -> image.Images:
    """The guest's images; skips where this machine has not what they are built with."""
    built = pytestconfig.stash[_BUILT]
    if isinstance(built, errors.MachineLacks):
        pytest.skip(str(built))
    if isinstance(built, errors.GuestError):
        raise built
    return built


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build what the collected tests will need. It takes minutes the first time, and here no time
    limit of a test is running.
    """
    wanted = any(
        guest_images.__name__ in getattr(item, "fixturenames", ()) for item in session.items
    )
    if session.config.option.collectonly or not wanted:
        return
    capture = session.config.pluginmanager.getplugin("capturemanager")
    shown = capture.global_and_fixture_disabled() if capture else contextlib.nullcontext()
    told = getattr(session.config, "workerinput", {}).get(_SHARED)
    with shown:
        session.config.stash[_BUILT] = _built_once(Path(told)) if told else _build()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells a new worker of xdist where to look first: to know what the guest is made of takes apt seconds."""
    stash = node.config.stash
    if _FOLDER not in stash:
        stash[_FOLDER] = Path(tempfile.mkdtemp(prefix="guest-image-"))
    node.workerinput[_SHARED] = str(stash[_FOLDER])


def pytest_unconfigure(config: pytest.Config) -> None:
    if (folder := config.stash.get(_FOLDER, None)) is not None:
        shutil.rmtree(folder, ignore_errors=True)


def _built_once(folder: Path) -> image.Images | errors.GuestError:
    """By the first worker; what went wrong there is found by each of them."""
    found = folder / "found"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if found.exists():
            return image.Images(Path(found.read_text()))
        built = _build()
        if isinstance(built, image.Images):
            found.write_text(str(built.folder))
        return built


def _build() -> image.Images | errors.GuestError:
    """The images, or why there are none: that is told by the tests that wanted them, not by all."""
    try:
        return image.ready(os.environ, progress.Progress())
    except errors.GuestError as error:
        return error
