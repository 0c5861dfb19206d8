"""The small decisions around volumes."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.embedded.node.objects import a_pod

from kubevirt.base.errors import UnsafePath, UserError
from kubevirt.base.files import Root
from kubevirt.embedded.node.volumes import ownership, places, sub_path, things, usage
from kubevirt.embedded.node.volumes.things import Thing

ROOT = Path("/home/nodes/n1/root")


@pytest.mark.parametrize(
    ("path", "means"),
    [
        ("/var/lib/kubelet", ROOT / "var/lib/kubelet"),
        ("/var/lib/kubelet/pods/", ROOT / "var/lib/kubelet/pods"),
        ("/var/lib//kubelet/device-plugins", ROOT / "var/lib/kubelet/device-plugins"),
        ("//var/lib/kubelet", ROOT / "var/lib/kubelet"),
        ("/var/run/kubevirt", ROOT / "var/run/kubevirt"),
        ("/run/kubevirt/a", ROOT / "var/run/kubevirt/a"),
        ("/var/lib/kubelets", Path("/var/lib/kubelets")),
        ("/run/kubevirt-private", Path("/run/kubevirt-private")),
        ("/etc", Path("/etc")),
        ("//etc", Path("/etc")),
        ("/", Path("/")),
    ],
)
def test_paths_that_components_share_are_the_nodes_own(path: str, means: Path) -> None:
    assert places.host(ROOT, path) == means


def test_a_pod_names_what_its_volumes_are_made_of() -> None:
    sources = [{"configMap": {"name": "c"}}, {"secret": {"name": "d"}}, {"downwardAPI": {}}]
    pod = a_pod(
        volumes=[
            {"name": "a", "configMap": {"name": "a"}},
            {"name": "b", "secret": {"secretName": "b"}},
            {"name": "c", "projected": {"sources": sources}},
            {"name": "d", "emptyDir": {}},
        ],
        imagePullSecrets=[{"name": "pull"}],
    )

    assert things.of_pod(pod) == {
        Thing(False, "home", "a"),
        Thing(True, "home", "b"),
        Thing(False, "home", "c"),
        Thing(True, "home", "d"),
    }
    with_image = a_pod(
        volumes=[{"name": "a", "image": {"reference": "x"}}], imagePullSecrets=[{"name": "pull"}]
    )
    assert things.of_pod(with_image) == {Thing(True, "home", "pull")}


def test_only_folders_on_the_disk_that_have_a_limit_are_measured() -> None:
    pod = a_pod(
        volumes=[
            {"name": "a", "emptyDir": {"sizeLimit": "1Ki"}},
            {"name": "b", "emptyDir": {"sizeLimit": "0"}},
            {"name": "c", "emptyDir": {"sizeLimit": "1Ki", "medium": "Memory"}},
            {"name": "d", "emptyDir": {}},
            {"name": "e", "configMap": {"name": "x"}},
        ]
    )

    (found,) = usage.limited(pod, Path("/pods/u1"))

    assert found.folder == Path("/pods/u1/volumes/kubernetes.io~empty-dir/a")
    assert found.most_bytes == 1024
    assert found.message == 'Usage of EmptyDir volume "a" exceeds the limit "1Ki". '
    used = usage.read(b"1025\t/pods/u1/volumes/kubernetes.io~empty-dir/a\0junk\0")
    assert list(usage.overfull([found], used)) == [found]
    used = usage.read(b"1024\t/pods/u1/volumes/kubernetes.io~empty-dir/a\0")
    assert list(usage.overfull([found], used)) == []


async def test_folders_are_measured_with_all_they_hold(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file").write_bytes(b"x" * 100_000)
    here = usage.Limited(uid="u", volume="v", folder=tmp_path, most_bytes=1, shown="1")
    gone = usage.Limited(uid="u", volume="w", folder=tmp_path / "none", most_bytes=1, shown="1")

    found = await usage.measured([here, gone])

    assert list(found) == [str(tmp_path)]
    assert found[str(tmp_path)] >= 100_000
    assert await usage.measured([]) == {}


def test_every_variable_of_a_sub_path_has_a_value() -> None:
    given = {"A": "x", "B": "$(A)"}

    assert sub_path.expanded("$(A)/$$(A)/$(B)", given) == "x/$(A)/$(A)"
    with pytest.raises(UserError, match='missing value for "C"'):
        sub_path.expanded("$(A)/$(C)", given)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_group_is_given_once_if_that_is_enough(tmp_path: Path) -> None:
    (tmp_path / "file").touch(mode=0o600)
    ownership.give(tmp_path, 4321)
    (tmp_path / "late").touch(mode=0o600)

    ownership.give(tmp_path, 4321, is_always=False)
    assert stat.S_IMODE((tmp_path / "late").stat().st_mode) == 0o600
    ownership.give(tmp_path, 4321)
    assert stat.S_IMODE((tmp_path / "late").stat().st_mode) == 0o660


def test_a_volume_of_too_many_levels_is_refused(tmp_path: Path) -> None:
    (tmp_path / "/".join(["d"] * 130)).mkdir(parents=True)

    with pytest.raises(UserError, match="more than 128 levels"):
        ownership.give(tmp_path, tmp_path.stat().st_gid)


NAMES = st.sampled_from(["a", "b", "c", "d"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
TARGETS = st.one_of(
    PATHS,
    st.lists(st.sampled_from(["..", "a", "b", "."]), min_size=1, max_size=4).map("/".join),
    st.sampled_from(["/", "/etc", "/proc/self/root", "../../etc", ""]).filter(bool),
)
ENTRIES = st.lists(st.tuples(PATHS, st.one_of(st.none(), TARGETS)), max_size=8)


@given(ENTRIES, PATHS)
def test_whatever_lies_in_a_volume_no_path_leads_out_of_it(
    tmp_path_factory: pytest.TempPathFactory, entries: list[tuple[str, str | None]], path: str
) -> None:
    volume = tmp_path_factory.mktemp("outer") / "volume"
    volume.mkdir()
    for place, target in entries:
        _put(volume, place, target)

    with Root.open(volume) as root:
        try:
            with root.followed(path) as fd:
                found = Path(f"/proc/self/fd/{fd}").readlink()
        except (UnsafePath, OSError):
            found = None

    # Python finds the same, if it may be found at all.
    real = Path(os.path.realpath(volume / path))
    is_inside = real.is_relative_to(volume) and real.exists()
    assert found is None or found.is_relative_to(volume)
    if found is not None:
        assert is_inside
        assert found == real


def _put(volume: Path, name: str, target: str | None) -> None:
    """Never through a link that leads out: what it put there was left in /etc, or ended the whole run."""
    place = volume / name
    if not Path(os.path.realpath(place.parent)).is_relative_to(volume):
        return
    try:
        if target is None:
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.symlink_to(target)
    except OSError:  # its name is taken, or there is nothing to put it in
        return
