"""Claims that are made as copies of others, on a real server and real disks."""

import asyncio
import os
import random
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.component.embedded.storage.conftest import World, until

from kubevirt.api.core.storage import PersistentVolumeClaim
from kubevirt.api.scheme import PERSISTENT_VOLUME_CLAIMS, PODS
from kubevirt.base.clock import SystemClock
from kubevirt.base.commands import run
from kubevirt.base.errors import KubevirtError
from kubevirt.base.tasks import background
from kubevirt.embedded.storage.decide import COPYING_PROTECTION
from kubevirt.kube.cache.store import Change
from kubevirt.kube.informer import Informer
from kubevirt.kube.patches import MergePatch

AT_ONCE = {"storageClassName": "local-immediate"}
OF_OLD = {"dataSource": {"kind": "PersistentVolumeClaim", "name": "old"}}
MAKERS = {"btrfs": ("mkfs.btrfs", "-q"), "xfs": ("mkfs.xfs", "-q")}
IMAGE_BYTES = 512 << 20


async def place_of(world: World, claim: str) -> Path:
    return world.volumes / (await world.bound_volume(claim)).metadata.name


async def a_source(world: World, **spec: str) -> Path:
    await world.claim("old", "64Mi", **AT_ONCE, **spec)
    return await place_of(world, "old")


@pytest.mark.parametrize("field", ["dataSource", "dataSourceRef"])
async def test_a_copy_has_what_its_source_has_and_goes_its_own_way(
    storage: World, field: str
) -> None:
    old = await a_source(storage)
    (old / "file").write_text("precious")
    (old / "file").chmod(0o604)
    (old / "link").symlink_to("/etc/passwd")

    await storage.claim("new", "128Mi", **AT_ONCE, **{field: OF_OLD["dataSource"]})
    new = await place_of(storage, "new")

    assert (new / "file").read_text() == "precious"
    assert stat.S_IMODE((new / "file").stat().st_mode) == 0o604
    assert (new / "link").is_symlink()
    (new / "file").write_text("changed")
    assert (old / "file").read_text() == "precious"


async def test_a_copy_of_a_disk_has_its_holes_and_may_be_larger(storage: World) -> None:
    old = await a_source(storage, volumeMode="Block")
    with old.open("r+b") as file:
        file.seek(32 << 20)
        file.write(b"data")

    await storage.claim("new", "128Mi", volumeMode="Block", **AT_ONCE, **OF_OLD)
    new = await place_of(storage, "new")

    assert new.stat().st_size == 128 << 20
    assert new.stat().st_blocks * 512 < 1 << 20
    with new.open("rb") as file:
        file.seek(32 << 20)
        assert file.read(4) == b"data"


@pytest.fixture
async def sharing(world: World, tmp_path: Path) -> AsyncIterator[World]:
    """Its volumes are on a file system that can share what files have in common."""
    if os.getuid() != 0:
        pytest.skip("only root can mount")
    image = tmp_path / "disk"
    with image.open("wb") as file:
        file.truncate(IMAGE_BYTES)
    why = []
    for kind, maker in MAKERS.items():
        try:
            await run(*maker, "-f", image)
            await run("mount", "-t", kind, "-o", "loop", image, world.volumes)
        except KubevirtError as error:
            why.append(f"{kind}: {error}")
            continue
        try:
            yield world
        finally:
            await run("umount", "--lazy", world.volumes)
        return
    pytest.skip(
        "needs a file system with reflinks: btrfs-progs or xfsprogs, and a kernel that can mount what "
        f"they make ({'; '.join(why)})"
    )


async def is_shared(file: Path) -> bool:
    """Whether each extent of a file is another's, too."""
    lines = (await run("filefrag", "-s", "-v", file)).text.splitlines()
    extents = [each for each in lines if each.strip().split(":")[0].isdigit()]
    assert extents, lines
    return all("shared" in each for each in extents)


@pytest.mark.parametrize("mode", ["Filesystem", "Block"])
async def test_a_copy_shares_its_data_with_the_source_where_the_file_system_can(
    sharing: World, mode: str
) -> None:
    async with background(sharing.storage().run()):
        old = await a_source(sharing, volumeMode=mode)
        data = old if mode == "Block" else old / "file"
        with data.open("r+b" if mode == "Block" else "wb") as file:
            file.write(os.urandom(16 << 20))
        assert not await is_shared(data)

        await sharing.claim("new", "64Mi", volumeMode=mode, **AT_ONCE, **OF_OLD)
        new = await place_of(sharing, "new")

        copied = new if mode == "Block" else new / "file"
        assert await is_shared(copied)
        assert await is_shared(data)
        with copied.open("r+b") as file:
            file.write(b"changed")
        assert data.read_bytes()[:7] != b"changed"


async def test_a_claim_that_waits_for_its_pod_is_copied_when_that_comes(storage: World) -> None:
    old = await a_source(storage)
    (old / "file").write_text("precious")
    await storage.claim("new", "64Mi", **OF_OLD)
    await storage.event("new", "WaitForFirstConsumer")

    await storage.select_node("new")

    assert (await place_of(storage, "new") / "file").read_text() == "precious"


async def test_a_copy_waits_for_its_source_to_come_and_to_be_left_alone(storage: World) -> None:
    await storage.claim("new", "64Mi", **AT_ONCE, **OF_OLD)
    said = await storage.event("new", "ProvisioningFailed")
    assert said == (
        'failed to provision volume with StorageClass "local-immediate": '
        "error getting handle for DataSource Type PersistentVolumeClaim by Name old: "
        'error getting PVC old (namespace "default") from api server: persistentvolumeclaim "old" not found'
    )
    await storage.pod("web", "old")  # it is on its node before it has its claim
    old = await a_source(storage)
    (old / "file").write_text("precious")

    async def is_told() -> bool | None:
        words = await storage.events("new", "ProvisioningFailed")
        return True if any("is in use by a pod" in each for each in words) else None

    await until(is_told, "it is told what is waited for")
    new = await storage.claim_now("new")
    assert new is not None
    assert new.status.phase == "Pending"

    await storage.client.delete(PODS, "web", "default", grace_period_s=0)

    assert (await place_of(storage, "new") / "file").read_text() == "precious"


async def test_a_source_that_is_deleted_while_it_is_copied_stays_until_that_is_done(
    storage: World,
) -> None:
    held = asyncio.Event()
    claims = Informer(storage.client, PERSISTENT_VOLUME_CLAIMS, clock=SystemClock())

    def look(change: Change[PersistentVolumeClaim]) -> None:
        if change.new and COPYING_PROTECTION in change.new.metadata.finalizers:
            held.set()

    claims.add_handler(look)
    async with background(claims.run()):
        old = await a_source(storage)
        data = os.urandom(1 << 20) * 128
        (old / "file").write_bytes(data)
        await storage.claim("new", "64Mi", **AT_ONCE, **OF_OLD)
        async with asyncio.timeout(60):
            await held.wait()
        await storage.client.delete(PERSISTENT_VOLUME_CLAIMS, "old", "default")

        new = await place_of(storage, "new")
        assert (new / "file").read_bytes() == data
        await storage.gone(storage.claim_now, "old")
        await storage.gone(storage.volume_now, old.name)
        assert not old.exists()


async def test_what_holds_a_source_still_after_a_crash_is_let_go(world: World) -> None:
    async with background(world.storage().run()):
        await a_source(world)
    note = MergePatch({"metadata": {"finalizers": [COPYING_PROTECTION]}})
    await world.client.patch(PERSISTENT_VOLUME_CLAIMS, "old", note, "default")
    await world.client.delete(PERSISTENT_VOLUME_CLAIMS, "old", "default")

    async with background(world.storage().run()):
        await world.gone(world.claim_now, "old")


async def test_wherever_copying_is_stopped_it_comes_out_right(world: World) -> None:
    chance = random.Random(11)
    async with background(world.storage().run()):
        old = await a_source(world)
    for number in range(30):
        (old / f"file{number}").write_text("precious")
    names = [f"c{number}" for number in range(12)]
    for name in names:
        async with background(world.storage().run()):
            await world.claim(name, "64Mi", **AT_ONCE, **OF_OLD)
            await asyncio.sleep(chance.uniform(0, 0.15))

    async with background(world.storage().run()):
        places = [await place_of(world, name) for name in names]
        await until(lambda: _is_free(world), "the source is held no more")

    for place in places:
        assert {each.read_text() for each in place.iterdir()} == {"precious"}
        assert len(list(place.iterdir())) == 30
    assert {each.name for each in world.volumes.iterdir()} == {
        old.name,
        *(each.name for each in places),
    }


async def _is_free(world: World) -> bool | None:
    old = await world.claim_now("old")
    assert old is not None
    return True if COPYING_PROTECTION not in old.metadata.finalizers else None
