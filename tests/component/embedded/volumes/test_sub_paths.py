"""subPath: what lies in a volume cannot lead out of it, however fast it changes."""

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.component.embedded.volumes.conftest import World, mounted, seen, source

from kubevirt.base.errors import KubevirtError
from kubevirt.embedded.node.neighbours import NotNow
from kubevirt.embedded.node.volumes import sub_path
from kubevirt.embedded.node.volumes.volumes import Volumes
from kubevirt.host import mounts

SECRET = "outside"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A volume and what is beside it; a target for mounts."""
    if os.getuid() != 0:
        pytest.skip("only root can mount")
    (tmp_path / "volume" / "sub").mkdir(parents=True)
    (tmp_path / "volume" / "sub" / "file").write_text("inside")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text(SECRET)
    yield tmp_path
    mounts.unmount_below(tmp_path)


def mount(place: Path, path: str, *, may_make: bool = True) -> Path:
    target = place / "ours" / "0"
    sub_path.mount(place / "volume", path, target, may_make=may_make)
    return target


async def test_a_key_of_a_config_map_is_a_file(world: World, volumes: Volumes) -> None:
    await world.config_map("settings", color="blue", size="9")
    pod = await world.pod(
        "web",
        {
            "name": "a",
            "configMap": {"name": "settings"},
            "mount": {"mountPath": "/etc/color", "subPath": "color"},
        },
    )

    await volumes.prepare(pod)

    assert seen(volumes, pod, "/etc/color") == "blue"
    assert mounted(volumes, pod)["/etc/color"].is_read_only
    # A container that is started again finds it anew.
    assert seen(volumes, pod, "/etc/color") == "blue"
    assert len(mounts.below(world.folder(pod))) == 1


async def test_missing_folders_are_made_with_the_rights_of_the_volume(
    world: World, volumes: Volumes
) -> None:
    mount = {"subPathExpr": "$(POD_NAME)/logs"}
    pod = await world.pod(
        "web",
        {"name": "a", "emptyDir": {}, "mount": mount},
        container={"env": [{"name": "POD_NAME", "value": "web"}]},
    )
    await volumes.prepare(pod)

    found = mounted(volumes, pod, POD_NAME="web")["/a"]

    (Path(found.source) / "file").touch()
    inner = world.folder(pod) / "volumes/kubernetes.io~empty-dir/a/web/logs"
    assert (inner / "file").exists()
    assert stat.S_IMODE(inner.stat().st_mode) == 0o777


@pytest.mark.parametrize(
    ("mount", "why"),
    [
        ({"subPathExpr": "$(NOBODY)"}, 'missing value for "NOBODY"'),
        ({"subPath": "way-out"}, "leads out of its root"),
        ({"subPath": "way-out/deeper"}, "leads out of its root"),
        ({"subPath": "up"}, "leads out of its root"),
        ({"subPath": "nowhere"}, "nowhere is not in the volume"),
    ],
)
async def test_what_leads_elsewhere_is_refused(
    world: World, volumes: Volumes, mount: dict[str, Any], why: str
) -> None:
    pod = await world.pod("web", {"name": "a", "emptyDir": {}, "mount": mount})
    await volumes.prepare(pod)
    folder = world.folder(pod) / "volumes/kubernetes.io~empty-dir/a"
    (folder / "way-out").symlink_to("/etc")
    (folder / "up").symlink_to("..")
    (folder / "nowhere").symlink_to("not-there")

    with pytest.raises(NotNow) as raised:
        mounted(volumes, pod)

    assert raised.value.reason == "CreateContainerConfigError"
    start = 'failed to prepare subPath for volumeMount "a" of container "main": '
    assert raised.value.message.startswith(start)
    assert why in raised.value.message
    assert mounts.below(world.folder(pod)) == []


async def test_mounts_that_come_from_inside_are_refused_where_they_cannot_be(
    world: World, volumes: Volumes
) -> None:
    pod = await world.pod(
        "web",
        {"name": "a", "emptyDir": {}, "mount": {"mountPropagation": "Bidirectional"}},
        container={"securityContext": {"privileged": True}},
    )
    await volumes.prepare(pod)

    with pytest.raises(NotNow, match="which the sandbox of this node cannot give"):
        mounted(volumes, pod)


async def test_outer_mounts_come_first_and_relative_ones_are_below_the_root(
    world: World, volumes: Volumes
) -> None:
    pod = await world.pod(
        "web",
        {"name": "a", "emptyDir": {}, "mount": {"mountPath": "/x/y/z", "readOnly": True}},
        {"name": "b", "emptyDir": {}, "mount": {"mountPath": "/x"}},
        {"name": "c", "emptyDir": {}, "mount": {"mountPath": "run/y"}},
    )
    await volumes.prepare(pod)

    assert list(mounted(volumes, pod)) == ["/x", "/run/y", "/x/y/z"]
    assert mounted(volumes, pod)["/x/y/z"].is_read_only
    assert source(volumes, pod, "/x").is_dir()


def test_a_link_that_stays_inside_is_followed(place: Path) -> None:
    (place / "volume" / "link").symlink_to("sub")

    assert (mount(place, "link") / "file").read_text() == "inside"
    (mount(place, "link/new/deep") / "made").touch()
    assert (place / "volume/sub/new/deep/made").exists()


@pytest.mark.parametrize(
    "path", ["..", "../outside", "/etc", "sub/../../outside", "a\0b", "\ud800"]
)
def test_a_path_that_is_none_is_refused(place: Path, path: str) -> None:
    with pytest.raises(KubevirtError):
        mount(place, path)
    assert mounts.below(place) == []


def test_a_file_takes_the_place_of_a_folder(place: Path) -> None:
    assert mount(place, "sub").is_dir()
    assert mount(place, "sub/file").read_text() == "inside"
    assert mount(place, "sub").is_dir()
    assert len(mounts.below(place)) == 1


def test_nothing_is_made_in_a_volume_that_is_only_read(place: Path) -> None:
    with pytest.raises(KubevirtError, match="is not in the volume"):
        mount(place, "new", may_make=False)
    assert not (place / "volume" / "new").exists()


@contextmanager
def restless(place: Path) -> Iterator[None]:
    """Somebody in the volume swaps a folder for a link that leads out, as fast as it can."""
    is_over = threading.Event()
    volume = place / "volume"
    (volume / "good").mkdir()
    (volume / "good" / "file").write_text("inside")
    (volume / "evil").symlink_to(place / "outside")

    def swap() -> None:
        for number in count():
            for each in ("good", "evil"):
                try:
                    (volume / each).rename(volume / "x")
                    (volume / "x").rename(volume / each)
                except OSError:  # a folder was made there meanwhile
                    (volume / "x").rename(volume / f"made{number}{each}")
            if is_over.is_set():
                return

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def test_a_swap_in_the_middle_leads_nowhere_else(place: Path) -> None:
    outcomes = set()
    with restless(place):
        for _ in range(1500):
            try:
                found = mount(place, "x/file", may_make=False)
            except (KubevirtError, OSError):
                outcomes.add("refused")
                continue
            outcomes.add(found.read_text())
    assert SECRET not in outcomes
    assert "refused" in outcomes


def test_no_folder_is_made_outside_by_a_swap(place: Path) -> None:
    with restless(place):
        for number in range(500):
            try:
                mount(place, f"x/new{number}")
            except (KubevirtError, OSError):
                continue
    assert [each.name for each in (place / "outside").iterdir()] == ["file"]
