"""Claims of pods, on real folders and real loop devices."""

import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.component.embedded.storage.conftest import until as until_found
from tests.component.embedded.volumes.conftest import World, mounted, refusal, source

from kubevirt.api.core.pod import Pod
from kubevirt.api.scheme import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from kubevirt.base.clock import SystemClock
from kubevirt.base.commands import run
from kubevirt.base.tasks import background
from kubevirt.embedded.node.volumes.volumes import Volumes
from kubevirt.embedded.storage.controller import StorageController
from kubevirt.embedded.storage.loop import LoopDevices
from kubevirt.kube.patches import MergePatch

NO_LOOPS = not Path("/dev/loop-control").exists()
needs_loops = pytest.mark.skipif(NO_LOOPS, reason="this kernel has no loop devices")


@pytest.fixture
async def provided(world: World) -> AsyncIterator[World]:
    """With somebody who makes volumes."""
    storage = StorageController(world.admin, world.provisioned, world.loops, SystemClock())
    async with background(storage.run()):
        yield world


async def a_claim(world: World, name: str, **spec: Any) -> str:
    """The name of the volume that it is bound to."""
    wanted = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "16Mi"}},
        "storageClassName": "local-immediate",
        **spec,
    }
    body = {"metadata": {"name": name}, "spec": wanted}
    await world.admin.create(PERSISTENT_VOLUME_CLAIMS, body, "default")

    async def bound() -> str | None:
        claim = await world.admin.get(PERSISTENT_VOLUME_CLAIMS, name, "default")
        return claim.spec.volume_name if claim.status.phase == "Bound" else None

    return await until_found(bound, f"{name} is bound")


def using(claim: str, **more: Any) -> dict[str, Any]:
    return {"name": "a", "persistentVolumeClaim": {"claimName": claim, **more}}


async def a_pod_on_disk(world: World, name: str, claim: str) -> Pod:
    devices = [{"name": "a", "devicePath": "/dev/disk"}]
    container = {"volumeMounts": [], "volumeDevices": devices}
    return await world.pod(name, using(claim), container=container)


def device_of(volumes: Volumes, pod: Pod) -> Path:
    (found,) = mounted(volumes, pod).values()
    assert (found.target, found.is_device) == ("/dev/disk", True)
    return Path(found.source)


def group_of_passwd() -> int:
    return Path("/etc/passwd").stat().st_gid


def write(device: Path, data: bytes) -> None:
    assert device.is_block_device()
    with device.open("r+b") as disk:
        disk.write(data)


async def test_what_one_pod_writes_the_next_one_reads(provided: World, volumes: Volumes) -> None:
    name = await a_claim(provided, "data")
    first = await provided.pod("first", using("data"))
    await volumes.prepare(first)
    assert source(volumes, first, "/a") == provided.provisioned / name
    (source(volumes, first, "/a") / "file").write_text("kept")
    await volumes.tear_down(first.metadata.uid)

    second = await provided.pod("second", using("data", readOnly=True))
    await volumes.prepare(second)

    assert (source(volumes, second, "/a") / "file").read_text() == "kept"
    assert mounted(volumes, second)["/a"].is_read_only


async def test_what_is_in_a_volume_is_given_to_the_group_of_the_pod(
    provided: World, volumes: Volumes
) -> None:
    name = await a_claim(provided, "data")
    folder = provided.provisioned / name
    (folder / "sub").mkdir(mode=0o700)
    (folder / "sub" / "file").touch(mode=0o600)
    (folder / "link").symlink_to("/etc/passwd")
    before = group_of_passwd()
    pod = await provided.pod("web", using("data"), securityContext={"fsGroup": 4321})

    await volumes.prepare(pod)

    for path, mode in ((folder, 0o2777), (folder / "sub", 0o2770), (folder / "sub/file", 0o660)):
        assert (path.stat().st_gid, stat.S_IMODE(path.stat().st_mode)) == (4321, mode)
    assert group_of_passwd() == before


async def test_a_pod_waits_for_its_claim_to_be_bound(world: World, volumes: Volumes) -> None:
    body = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    await world.admin.create(PERSISTENT_VOLUME_CLAIMS, body, "default")
    pod = await world.pod("web", using("data"))

    said = await refusal(volumes, pod)

    assert said == 'MountVolume.SetUp failed for volume "a" : PVC data is not bound'


async def test_a_claim_that_is_going_starts_no_pod(provided: World, volumes: Volumes) -> None:
    await a_claim(provided, "data")
    holding = await provided.pod("holding", using("data"))
    await volumes.prepare(holding)
    await provided.admin.delete(PERSISTENT_VOLUME_CLAIMS, "data", "default")
    pod = await provided.pod("web", using("data"))

    said = await refusal(volumes, pod)

    assert said.endswith("can't start pod because PVC is being deleted")


async def test_a_volume_of_another_claim_is_not_shown(provided: World, volumes: Volumes) -> None:
    name = await a_claim(provided, "data")
    pod = await provided.pod("web", using("data"))
    other = {"namespace": "default", "name": "data", "uid": "another"}
    await provided.admin.patch(PERSISTENT_VOLUMES, name, MergePatch({"spec": {"claimRef": other}}))

    assert "is bound to another claim than data" in await refusal(volumes, pod)


@needs_loops
async def test_a_disk_is_a_device_that_all_its_pods_share(
    provided: World, volumes: Volumes
) -> None:
    name = await a_claim(provided, "disk", volumeMode="Block")
    file = provided.provisioned / name
    pods = [await a_pod_on_disk(provided, each, "disk") for each in ("first", "second")]
    for pod in pods:
        await volumes.prepare(pod)
    link = provided.folder(pods[0]) / "volumeDevices/kubernetes.io~local-volume" / name
    device = link.readlink()
    nodes = [device_of(volumes, pod) for pod in pods]
    assert [each.stat().st_rdev for each in nodes] == [device.stat().st_rdev] * 2
    write(nodes[0], b"written")

    await volumes.tear_down(pods[0].metadata.uid)
    assert provided.loops.find(file) == device
    await volumes.tear_down(pods[1].metadata.uid)
    assert provided.loops.find(file) is None
    assert file.read_bytes()[:7] == b"written"


@needs_loops
async def test_a_disk_may_be_given_to_a_container_and_the_machines_stays_as_it_is(
    provided: World, volumes: Volumes
) -> None:
    """The container had the machine's own node: virt-handler could not give a launcher its disk."""
    name = await a_claim(provided, "disk", volumeMode="Block")
    pod = await a_pod_on_disk(provided, "web", "disk")
    await volumes.prepare(pod)
    device = provided.loops.find(provided.provisioned / name)
    assert device is not None
    before, node = device.stat(), device_of(volumes, pod)
    assert (node.stat().st_mode, node.stat().st_gid) == (before.st_mode, before.st_gid)
    os.chown(node, 107, 107)
    assert device.stat().st_uid == before.st_uid
    await volumes.tear_down(pod.metadata.uid)
    assert not provided.folder(pod).exists()


@needs_loops
async def test_a_disk_that_grows_is_larger_for_who_has_it(
    provided: World, volumes: Volumes
) -> None:
    await a_claim(provided, "disk", volumeMode="Block")
    pod = await a_pod_on_disk(provided, "web", "disk")
    await volumes.prepare(pod)
    device = device_of(volumes, pod)
    more = MergePatch({"spec": {"resources": {"requests": {"storage": "32Mi"}}}})
    await provided.admin.patch(PERSISTENT_VOLUME_CLAIMS, "disk", more, "default")

    async def grown() -> bool | None:
        done = await run("blockdev", "--getsize64", device)
        return True if int(done.text) == 32 << 20 else None

    await until_found(grown, "the device has grown")


@needs_loops
async def test_devices_that_nobody_uses_are_found_after_a_crash(provided: World) -> None:
    name = await a_claim(provided, "disk", volumeMode="Block")
    file = provided.provisioned / name
    other = provided.home / "other.img"
    other.write_bytes(bytes(1 << 20))
    await run("losetup", "--find", file)
    theirs = (await run("losetup", "--find", "--show", other)).text.strip()
    try:
        async with provided.volumes():
            assert provided.loops.find(file) is None
        assert provided.loops.find(other) == Path(theirs)
    finally:
        await run("losetup", "--detach", theirs)


@needs_loops
async def test_a_pod_of_another_node_keeps_its_device(provided: World) -> None:
    name = await a_claim(provided, "disk", volumeMode="Block")
    file = provided.provisioned / name
    link = provided.home / "nodes/n2/root/var/lib/kubelet/pods/u/volumeDevices"
    loops = LoopDevices(provided.provisioned, provided.home / "nodes")
    device = await loops.attach(file, link / "kubernetes.io~local-volume" / name)
    assert await loops.attach(file, link / "kubernetes.io~local-volume" / name) == device

    await loops.release()
    assert loops.find(file) == device

    (link / "kubernetes.io~local-volume" / name).unlink()
    await loops.release()
    assert loops.find(file) is None


async def test_a_folder_is_no_disk_and_a_disk_is_no_folder(
    provided: World, volumes: Volumes
) -> None:
    await a_claim(provided, "folder")
    await a_claim(provided, "disk", volumeMode="Block")

    said = await refusal(volumes, await a_pod_on_disk(provided, "one", "folder"))
    assert said.endswith("volume a has volumeMode Filesystem, but is specified in volumeDevices")
    said = await refusal(volumes, await provided.pod("two", using("disk")))
    assert said.endswith("volume a has volumeMode Block, but is specified in volumeMounts")


async def a_volume_by_hand(world: World, **spec: Any) -> None:
    """With a claim on it."""
    shape = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "16Mi"}}
    body = {"metadata": {"name": "by-hand"}, "spec": {**shape, **spec}}
    await world.admin.create(PERSISTENT_VOLUMES.raw, body)
    await a_claim(
        world, "data", storageClassName="", volumeMode=spec.get("volumeMode", "Filesystem")
    )


async def test_a_volume_by_hand_is_a_path_of_the_machine(provided: World, volumes: Volumes) -> None:
    folder = provided.home / "by-hand"
    await a_volume_by_hand(provided, hostPath={"path": str(folder), "type": "DirectoryOrCreate"})
    pod = await provided.pod("web", using("data"))

    await volumes.prepare(pod)

    assert source(volumes, pod, "/a") == folder
    await volumes.tear_down(pod.metadata.uid)
    assert folder.is_dir()


NOT_MOUNTED = (
    "persistentvolume by-hand is of a type that this node cannot mount; it mounts local and hostPath "
    "volumes"
)
ANYWHERE = {
    "required": {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "Exists"}]}
        ]
    }
}


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (
            {"csi": {"driver": "d.example.com", "volumeHandle": "h"}},
            NOT_MOUNTED,
        ),
        (
            {"local": {"path": "/not/there"}, "nodeAffinity": ANYWHERE},
            'path "/not/there" does not exist',
        ),
    ],
    ids=["csi", "gone"],
)
async def test_a_volume_that_cannot_be_mounted_says_why(
    provided: World, volumes: Volumes, spec: dict[str, Any], why: str
) -> None:
    await a_volume_by_hand(provided, **spec)

    said = await refusal(volumes, await provided.pod("web", using("data")))

    assert said == f'MountVolume.SetUp failed for volume "a" : {why}'


async def test_only_our_own_files_become_disks(provided: World, volumes: Volumes) -> None:
    file = provided.home / "file"
    file.write_bytes(bytes(1 << 20))
    local = {"local": {"path": str(file)}, "nodeAffinity": ANYWHERE, "volumeMode": "Block"}
    await a_volume_by_hand(provided, **local)

    said = await refusal(volumes, await a_pod_on_disk(provided, "web", "data"))

    assert said.endswith(f"{file} is no block device, so it cannot be a volume of mode Block")
    assert provided.loops.find(file) is None
