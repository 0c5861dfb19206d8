"""emptyDir, hostPath, images, and what cannot be had."""

import os
import socket
import stat
from typing import Any

import pytest
from tests.component.embedded.volumes.conftest import World, mounted, refusal, source, until

from kubevirt.base.commands import run
from kubevirt.embedded.node.neighbours import NoImageForVolume
from kubevirt.embedded.node.volumes.volumes import Volumes
from kubevirt.host import mounts

NOT_HERE = (
    "cannot be had on this node; it has configMap, secret, downwardAPI, projected, emptyDir, hostPath, "
    "persistentVolumeClaim and image"
)


async def test_an_empty_dir_is_for_all_and_ends_with_its_pod(
    world: World, volumes: Volumes
) -> None:
    pod = await world.pod("web", {"name": "a", "emptyDir": {}}, securityContext={"fsGroup": 4321})
    await volumes.prepare(pod)
    folder = source(volumes, pod, "/a")
    assert folder == world.folder(pod) / "volumes/kubernetes.io~empty-dir/a"
    found = folder.stat()
    assert (stat.S_IMODE(found.st_mode), found.st_gid) == (0o2777, 4321)
    (folder / "file").touch()
    await volumes.prepare(pod)
    assert (folder / "file").exists()

    await volumes.tear_down(pod.metadata.uid)

    assert not world.folder(pod).exists()
    await volumes.tear_down(pod.metadata.uid)


async def test_an_empty_dir_in_memory_holds_no_more_than_it_may(
    world: World, volumes: Volumes
) -> None:
    wanted = {"medium": "Memory", "sizeLimit": "1Mi"}
    pod = await world.pod("web", {"name": "a", "emptyDir": wanted})
    await volumes.prepare(pod)
    folder = source(volumes, pod, "/a")

    assert folder.is_mount()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o777
    with pytest.raises(OSError, match="No space left"):
        (folder / "file").write_bytes(b"x" * (2 << 20))
    await volumes.prepare(pod)
    assert (folder / "file").exists()

    await volumes.tear_down(pod.metadata.uid)
    assert mounts.below(world.home) == []
    assert not world.folder(pod).exists()


async def test_a_volume_that_holds_more_than_it_may_has_its_pod_evicted(
    world: World, volumes: Volumes
) -> None:
    pod = await world.pod("web", {"name": "a", "emptyDir": {"sizeLimit": "1Mi"}})
    await volumes.prepare(pod)
    folder = source(volumes, pod, "/a")
    (folder / "little").write_bytes(b"x" * 1000)
    assert volumes.overfull(pod.metadata.uid) == ""

    (folder / "much").write_bytes(b"x" * (2 << 20))

    await until(lambda: pod.metadata.uid in world.news, "it is noticed")
    said = volumes.overfull(pod.metadata.uid)
    assert said == 'Usage of EmptyDir volume "a" exceeds the limit "1Mi". '


async def test_a_tree_too_deep_for_any_path_goes_with_its_pod(
    world: World, volumes: Volumes
) -> None:
    pod = await world.pod("web", {"name": "a", "emptyDir": {}})
    await volumes.prepare(pod)
    fd = os.open(mounted(volumes, pod)["/a"].source, os.O_RDONLY)
    for _ in range(2000):
        os.mkdir("d", dir_fd=fd)
        below = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)

    await volumes.tear_down(pod.metadata.uid)

    assert not world.folder(pod).exists()


async def test_tear_down_needs_nobody_who_remembers(world: World) -> None:
    await world.secret("keys", key="s3cret")
    outside = world.home / "outside"
    outside.mkdir()
    (outside / "file").write_text("stays")
    pod = await world.pod(
        "web",
        {"name": "a", "secret": {"secretName": "keys"}},
        {"name": "b", "emptyDir": {"medium": "Memory"}},
        {"name": "c", "hostPath": {"path": str(outside)}, "mount": {"subPath": "file"}},
    )
    async with world.volumes() as before:
        await before.prepare(pod)
        mounted(before, pod)
    assert len(mounts.below(world.folder(pod))) == 3

    async with world.volumes() as after:
        await after.tear_down(pod.metadata.uid)

    assert mounts.below(world.home) == []
    assert not world.folder(pod).exists()
    assert (outside / "file").read_text() == "stays"


async def test_a_host_path_is_the_machines_or_the_nodes_own(world: World, volumes: Volumes) -> None:
    outside = world.home / "outside"
    pod = await world.pod(
        "web",
        {"name": "a", "hostPath": {"path": str(outside), "type": "DirectoryOrCreate"}},
        {"name": "b", "hostPath": {"path": "/var/lib/kubelet/pods"}},
        {"name": "c", "hostPath": {"path": "/run/kubevirt/sockets"}},
        {"name": "d", "hostPath": {"path": "/dev/null", "type": "CharDevice"}},
    )

    await volumes.prepare(pod)

    found = mounted(volumes, pod)
    root = world.settings.root
    assert found["/a"].source == str(outside)
    assert outside.is_dir()
    assert found["/b"].source == str(root / "var/lib/kubelet/pods")
    assert found["/c"].source == str(root / "var/run/kubevirt/sockets")
    assert (root / "var/run/kubevirt/sockets").is_dir()
    assert found["/d"].source == "/dev/null"
    assert not found["/a"].is_read_only


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("Directory", "a directory"),
        ("File", "a file"),
        ("Socket", "a socket file"),
        ("BlockDevice", "a block device"),
        ("CharDevice", "a character device"),
    ],
)
async def test_a_host_path_of_another_type_is_refused(
    world: World, volumes: Volumes, kind: str, name: str
) -> None:
    path = world.home / "it"
    if kind == "Directory":
        path.touch()
    else:
        path.mkdir()
    pod = await world.pod("web", {"name": "a", "hostPath": {"path": str(path), "type": kind}})

    assert await refusal(volumes, pod) == (
        f'MountVolume.SetUp failed for volume "a" : hostPath type check failed: {path} is not {name}'
    )


async def test_a_host_path_may_be_a_socket(world: World, volumes: Volumes) -> None:
    path = world.home / "s"
    with socket.socket(socket.AF_UNIX) as listening:
        folder = os.open(world.home, os.O_PATH)
        listening.bind(f"/proc/self/fd/{folder}/s")
        os.close(folder)
        pod = await world.pod(
            "web", {"name": "a", "hostPath": {"path": str(path), "type": "Socket"}}
        )
        await volumes.prepare(pod)
    assert mounted(volumes, pod)["/a"].source == str(path)


async def test_the_files_of_an_image_are_a_volume(world: World, volumes: Volumes) -> None:
    await world.secret("pull", **{".dockerconfigjson": "{}"})
    (world.image / "disk").mkdir()
    pod = await world.pod(
        "web",
        {"name": "a", "image": {"reference": "disks:1", "pullPolicy": "Always"}},
        {"name": "b", "image": {"reference": "disks:1"}, "mount": {"subPath": "disk"}},
        imagePullSecrets=[{"name": "pull"}],
    )

    await volumes.prepare(pod)

    found = mounted(volumes, pod)
    assert (found["/a"].source, found["/a"].is_read_only) == (str(world.image), True)
    assert found["/b"].is_read_only
    assert world.shelf.asked[0] == ("disks:1", "Always", [b"{}"])
    await volumes.prepare(pod)
    assert len(world.shelf.asked) == 2


@pytest.mark.parametrize(
    ("volume", "why"),
    [
        (
            {"image": {"reference": "built-in"}},
            "built-in is the built-in image, which has no files of its own",
        ),
        (
            {"nfs": {"server": "s", "path": "/p"}},
            f"volumes of type nfs {NOT_HERE}",
        ),
        (
            {"csi": {"driver": "d.example.com"}},
            f"volumes of type csi {NOT_HERE}",
        ),
        (
            {"emptyDir": {"medium": "HugePages"}},
            'an emptyDir of medium "HugePages" cannot be had here; use Memory',
        ),
        (
            {"persistentVolumeClaim": {"claimName": "none"}},
            'persistentvolumeclaim "none" not found',
        ),
    ],
)
async def test_what_cannot_be_had_is_said(
    world: World, volumes: Volumes, volume: dict[str, Any], why: str
) -> None:
    pod = await world.pod("web", {"name": "a", **volume})

    said = await refusal(volumes, pod)

    assert said == f'MountVolume.SetUp failed for volume "a" : {why}'


async def test_an_image_that_cannot_be_had_is_said_as_one(world: World, volumes: Volumes) -> None:
    pod = await world.pod("web", {"name": "a", "image": {"reference": "none"}})
    with pytest.raises(NoImageForVolume, match="image none: there is no such image") as caught:
        await volumes.prepare(pod)
    assert (caught.value.volume, caught.value.image) == ("a", "none")


async def test_a_full_disk_is_said_in_one_sentence(world: World, volumes: Volumes) -> None:
    pod = await world.pod("web", {"name": "a", "emptyDir": {}})
    root = world.settings.root
    await run("mount", "-t", "tmpfs", "-o", "nr_inodes=7", "tmpfs", root)

    said = await refusal(volumes, pod)
    assert said == (
        f'MountVolume.SetUp failed for volume "a" : the disk of {world.settings.folder} is full; '
        "make room there"
    )

    await run("mount", "-o", "remount,nr_inodes=100", root)
    await volumes.prepare(pod)
