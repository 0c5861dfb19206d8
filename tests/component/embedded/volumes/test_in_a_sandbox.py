"""What a container really sees of its volumes, and what it cannot do to them."""

import asyncio
from pathlib import Path
from typing import Any

from tests.component.embedded.volumes.conftest import World
from tests.component.embedded.volumes.test_claims import a_claim, needs_loops, using

from kubevirt.base.clock import SystemClock
from kubevirt.base.tasks import background
from kubevirt.embedded.node.volumes.volumes import Volumes
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.container import Container, Rights
from kubevirt.embedded.runtime.keeper import Keeper
from kubevirt.embedded.storage.controller import StorageController

LIMIT_S = 60.0
PATH = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}
SOMEBODY = Rights(user=1234, group=1234, groups=(4321,), capabilities=())


async def said(
    volumes: Volumes, pod: Any, folder: Path, keeper: Keeper, script: str, rights: Rights
) -> list[str]:
    """What a shell in the pod's container prints."""
    container = Container(
        command=["sh", "-c", script],
        environment=PATH,
        rights=rights,
        mounts=volumes.mounts(pod, pod.spec.containers[0]),
    )
    attempt = Attempt(folder)
    await attempt.start(container, keeper)
    async with asyncio.timeout(LIMIT_S):
        await attempt.ended()
    text = (folder / "log").read_text()
    return [line.split(" ", 3)[3] for line in text.splitlines()]


async def test_a_container_reads_what_it_may_and_writes_where_it_may(
    world: World, volumes: Volumes, attempts: Path, keeper: Keeper
) -> None:
    await world.config_map("settings", color="blue")
    await world.secret("keys", key="s3cret")
    pod = await world.pod(
        "web",
        {"name": "a", "configMap": {"name": "settings"}},
        {"name": "b", "secret": {"secretName": "keys", "defaultMode": 0o400}},
        {"name": "c", "emptyDir": {"medium": "Memory"}},
        {"name": "d", "emptyDir": {}, "mount": {"subPath": "mine"}},
        {"name": "e", "emptyDir": {}, "mount": {"readOnly": True}},
        {
            "name": "f",
            "configMap": {"name": "settings"},
            "mount": {"mountPath": "/etc/color", "subPath": "color"},
        },
        securityContext={"fsGroup": 4321},
    )
    await volumes.prepare(pod)
    script = (
        "cat /a/color /b/key /etc/color; echo; for each in a b c d e; do "
        "touch /$each/new 2>/dev/null && echo $each; done; mkdir /c/x; stat -c %g /c/x"
    )

    found = await said(volumes, pod, attempts / "0", keeper, script, SOMEBODY)

    assert found == ["blues3cretblue", "c", "d", "4321"]
    folder = world.folder(pod) / "volumes/kubernetes.io~empty-dir/d/mine"
    assert (folder / "new").exists()


async def test_a_volume_of_a_container_that_is_gone_is_unmounted(
    world: World, volumes: Volumes, attempts: Path, keeper: Keeper
) -> None:
    pod = await world.pod("web", {"name": "a", "emptyDir": {"medium": "Memory"}})
    await volumes.prepare(pod)
    await said(volumes, pod, attempts / "0", keeper, "touch /a/x", SOMEBODY)

    await volumes.tear_down(pod.metadata.uid)

    assert not world.folder(pod).exists()


@needs_loops
async def test_a_container_has_its_disk(
    world: World, volumes: Volumes, attempts: Path, keeper: Keeper
) -> None:
    storage = StorageController(world.admin, world.provisioned, world.loops, SystemClock())
    async with background(storage.run()):
        name = await a_claim(world, "disk", volumeMode="Block")
    devices = [{"name": "a", "devicePath": "/dev/disk"}]
    container = {"volumeMounts": [], "volumeDevices": devices}
    pod = await world.pod("web", using("disk"), container=container)
    await volumes.prepare(pod)
    script = "printf written | dd of=/dev/disk conv=fsync status=none; stat -c %F /dev/disk"

    assert await said(volumes, pod, attempts / "0", keeper, script, Rights()) == [
        "block special file"
    ]

    await volumes.tear_down(pod.metadata.uid)
    assert (world.provisioned / name).read_bytes()[:7] == b"written"
