"""Claims and volumes find each other, on a real server."""

import asyncio
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.component.embedded.storage.conftest import World, until

from kubevirt.api.scheme import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS, STORAGE_CLASSES
from kubevirt.base.commands import run
from kubevirt.base.tasks import background
from kubevirt.kube.patches import MergePatch


async def test_a_home_brings_a_default_class_that_waits_and_one_that_does_not(
    storage: World,
) -> None:
    async def both() -> dict[str, str | None] | None:
        found = await storage.client.list(STORAGE_CLASSES)
        modes = {each.metadata.name: each.volume_binding_mode for each in found.items}
        return modes if len(modes) == 2 else None

    assert await until(both, "there are two classes") == {
        "local": "WaitForFirstConsumer",
        "local-immediate": "Immediate",
    }
    assert (await storage.claim("data")).spec.storage_class_name == "local"


async def test_a_claim_waits_for_its_pod_and_is_given_a_folder_on_its_node(storage: World) -> None:
    await storage.claim("data")
    said = await storage.event("data", "WaitForFirstConsumer")
    assert said == "waiting for first consumer to be created before binding"
    await storage.pod("web", "data", node=None)
    assert (
        await storage.event("data", "WaitForPodScheduled") == "waiting for pod web to be scheduled"
    )

    await storage.select_node("data", "n1")

    volume = await storage.bound_volume("data")
    claim = await storage.claim_in("data", "Bound")
    assert volume.metadata.name == f"pvc-{claim.metadata.uid}"
    assert claim.status.capacity == {"storage": "1Gi"}
    assert claim.status.access_modes == ("ReadWriteOnce",)
    assert claim.metadata.finalizers == ("kubernetes.io/pvc-protection",)
    assert claim.metadata.annotations["pv.kubernetes.io/bind-completed"] == "yes"
    assert volume.metadata.finalizers == ("kubernetes.io/pv-protection",)
    assert volume.spec.persistent_volume_reclaim_policy == "Delete"
    assert volume.spec.local is not None
    assert volume.spec.local.path == str(storage.volumes / volume.metadata.name)
    assert (storage.volumes / volume.metadata.name).is_dir()
    assert volume.spec.node_affinity is not None
    assert volume.spec.node_affinity.required is not None
    (term,) = volume.spec.node_affinity.required.node_selector_terms
    assert [(each.key, each.values) for each in term.match_expressions] == [
        ("kubernetes.io/hostname", ("n1",))
    ]
    said = await storage.event("data", "ProvisioningSucceeded")
    assert said == f"Successfully provisioned volume {volume.metadata.name}"


async def test_a_disk_is_a_sparse_file_of_the_size_that_was_asked_for(storage: World) -> None:
    await storage.claim("disk", "64Mi", volumeMode="Block", storageClassName="local-immediate")

    volume = await storage.bound_volume("disk")

    assert volume.spec.volume_mode == "Block"
    found = (storage.volumes / volume.metadata.name).stat()
    assert (found.st_size, found.st_blocks) == (64 << 20, 0)


async def test_the_data_goes_with_the_claim(storage: World) -> None:
    await storage.claim("data", storageClassName="local-immediate")
    volume = await storage.bound_volume("data")
    (storage.volumes / volume.metadata.name / "file").write_text("precious")

    await storage.client.delete(PERSISTENT_VOLUME_CLAIMS, "data", "default")

    await storage.gone(storage.claim_now, "data")
    await storage.gone(storage.volume_now, volume.metadata.name)
    assert list(storage.volumes.iterdir()) == []


async def test_a_volume_that_is_retained_keeps_its_data_and_is_released(storage: World) -> None:
    await storage.claim("data", storageClassName="local-immediate")
    volume = await storage.bound_volume("data")
    name = volume.metadata.name
    (storage.volumes / name / "file").write_text("precious")
    keep = MergePatch({"spec": {"persistentVolumeReclaimPolicy": "Retain"}})
    await storage.client.patch(PERSISTENT_VOLUMES, name, keep)

    await storage.client.delete(PERSISTENT_VOLUME_CLAIMS, "data", "default")

    await storage.volume_in(name, "Released")
    await storage.client.delete(PERSISTENT_VOLUMES, name)
    await storage.gone(storage.volume_now, name)
    assert (storage.volumes / name / "file").read_text() == "precious"


async def test_no_data_goes_while_a_pod_uses_it(storage: World) -> None:
    await storage.claim("data", storageClassName="local-immediate")
    volume = await storage.bound_volume("data")
    folder = storage.volumes / volume.metadata.name
    await storage.pod("web", "data")
    await storage.client.delete(PERSISTENT_VOLUME_CLAIMS, "data", "default")
    await storage.client.delete(PERSISTENT_VOLUMES, volume.metadata.name)
    # Whoever is at work has seen the deletion by the time it has served another claim.
    await storage.claim("other", storageClassName="local-immediate")
    await storage.bound_volume("other")

    assert await storage.claim_now("data") is not None
    assert await storage.volume_now(volume.metadata.name) is not None
    assert folder.is_dir()

    await storage.client.delete(PODS, "web", "default", grace_period_s=0)
    await storage.gone(storage.claim_now, "data")
    await storage.gone(storage.volume_now, volume.metadata.name)
    assert not folder.exists()


async def test_a_pod_that_has_ended_holds_nothing(storage: World) -> None:
    await storage.claim("data", storageClassName="local-immediate")
    await storage.bound_volume("data")
    await storage.pod("web", "data")
    done = MergePatch({"status": {"phase": "Succeeded"}})
    await storage.client.patch_status(PODS, "web", done, "default")

    await storage.client.delete(PERSISTENT_VOLUME_CLAIMS, "data", "default")

    await storage.gone(storage.claim_now, "data")


async def test_a_claim_takes_the_smallest_volume_that_will_do(storage: World) -> None:
    await storage.volume("small", "1Gi")
    await storage.volume("large", "10Gi")
    await storage.volume("right", "5Gi")
    await storage.volume_in("right", "Available")

    await storage.claim("data", "2Gi", storageClassName="")

    volume = await storage.bound_volume("data")
    assert volume.metadata.name == "right"
    claim = await storage.claim_in("data", "Bound")
    assert claim.status.capacity == {"storage": "5Gi"}
    await storage.volume_in("small", "Available")


async def test_a_volume_that_comes_later_ends_the_waiting(storage: World) -> None:
    await storage.claim("data", storageClassName="")
    said = await storage.event("data", "FailedBinding")
    assert said == "no persistent volumes available for this claim and no storage class is set"

    await storage.volume("late")

    assert (await storage.bound_volume("data")).metadata.name == "late"


async def test_a_volume_is_kept_for_the_claim_that_it_names(storage: World) -> None:
    mine = {"namespace": "default", "name": "mine"}
    await storage.volume("kept", claimRef=mine)
    await storage.volume_in("kept", "Available")
    await storage.claim("other", storageClassName="")
    await storage.event("other", "FailedBinding")

    await storage.claim("mine", storageClassName="")

    assert (await storage.bound_volume("mine")).metadata.name == "kept"
    other = await storage.claim_now("other")
    assert other is not None
    assert other.status.phase == "Pending"


async def test_a_claim_may_say_which_volume_it_wants(storage: World) -> None:
    await storage.volume("one")
    await storage.volume("two")
    await storage.claim("first", storageClassName="", volumeName="two")
    assert (await storage.bound_volume("first")).metadata.name == "two"

    await storage.claim("second", storageClassName="", volumeName="two")
    said = await storage.event("second", "FailedBinding")
    assert said == 'volume "two" already bound to a different claim.'
    await storage.claim("third", "9Gi", storageClassName="", volumeName="one")
    said = await storage.event("third", "VolumeMismatch")
    assert said == 'Cannot bind to requested volume "one": requested PV is too small'


async def test_a_claim_whose_volume_is_gone_is_lost(storage: World) -> None:
    await storage.volume("one")
    await storage.claim("data", storageClassName="")
    await storage.bound_volume("data")
    by_force = MergePatch({"metadata": {"finalizers": None}})
    await storage.client.delete(PERSISTENT_VOLUMES, "one")
    await storage.client.patch(PERSISTENT_VOLUMES, "one", by_force)

    await storage.claim_in("data", "Lost")
    said = await storage.event("data", "ClaimLost")
    assert said == "Bound claim has lost its PersistentVolume. Data on the volume is lost!"


async def test_a_class_that_is_not_there_is_named(storage: World) -> None:
    await storage.claim("data", storageClassName="none")

    said = await storage.event("data", "ProvisioningFailed")
    assert said == 'storageclass.storage.k8s.io "none" not found'


async def test_a_claim_grows(storage: World) -> None:
    await storage.claim("disk", "32Mi", volumeMode="Block", storageClassName="local-immediate")
    volume = await storage.bound_volume("disk")
    more = MergePatch({"spec": {"resources": {"requests": {"storage": "64Mi"}}}})
    await storage.client.patch(PERSISTENT_VOLUME_CLAIMS, "disk", more, "default")

    async def grown() -> bool | None:
        claim = await storage.claim_now("disk")
        return True if claim and claim.status.capacity == {"storage": "64Mi"} else None

    await until(grown, "the claim has more")
    assert (storage.volumes / volume.metadata.name).stat().st_size == 64 << 20
    now = await storage.volume_now(volume.metadata.name)
    assert now is not None
    assert now.spec.capacity == {"storage": "64Mi"}


async def test_a_volume_that_only_says_it_is_ours_loses_nothing(storage: World) -> None:
    outside = storage.home / "outside"
    outside.mkdir()
    affinity = {
        "required": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "Exists"}]}
            ]
        }
    }
    gone = {"namespace": "default", "name": "gone", "uid": "123"}
    body = {
        "metadata": {
            "name": "fake",
            "annotations": {"pv.kubernetes.io/provisioned-by": "kubevirt.io/local-folder"},
        },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "local": {"path": str(outside)},
            "nodeAffinity": affinity,
            "persistentVolumeReclaimPolicy": "Delete",
            "claimRef": gone,
        },
    }
    await storage.client.create(PERSISTENT_VOLUMES, body)

    await storage.volume_in("fake", "Failed")
    assert outside.is_dir()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount")
async def test_a_disk_that_is_full_is_said_so_and_tried_again(world: World) -> None:
    full = ("mount", "-t", "tmpfs", "-o", "nr_inodes=1", "tmpfs", world.volumes)
    await run(*full)
    try:
        async with background(world.storage().run()):
            await world.claim("data", storageClassName="local-immediate")
            said = await world.event("data", "ProvisioningFailed")
            assert said == (
                'failed to provision volume with StorageClass "local-immediate": '
                f"the disk of {world.volumes} is full; make room there"
            )

            await run("mount", "-o", "remount,nr_inodes=100", world.volumes)
            await world.bound_volume("data")
    finally:
        await run("umount", "--lazy", world.volumes)


async def test_what_was_begun_before_a_crash_is_finished(world: World) -> None:
    (world.volumes / ".going-1").mkdir()
    (world.volumes / ".going-1" / "file").touch()
    (world.volumes / "pvc-never-made").mkdir()
    (world.volumes / "kept").mkdir()
    (world.volumes / "kept" / "file").write_text("precious")
    async with background(world.storage().run()):
        await world.claim("data", storageClassName="local-immediate")
        volume = await world.bound_volume("data")
    assert {each.name for each in world.volumes.iterdir()} == {"kept", volume.metadata.name}

    # Nobody is there when the claim goes; whoever comes next finishes it.
    await world.client.delete(PERSISTENT_VOLUME_CLAIMS, "data", "default")
    async with background(world.storage().run()):
        await world.gone(world.volume_now, volume.metadata.name)
    assert (world.volumes / "kept" / "file").read_text() == "precious"
    assert len(list(world.volumes.iterdir())) == 1


async def test_wherever_it_is_stopped_it_comes_out_right(world: World) -> None:
    chance = random.Random(7)
    names = [f"c{number}" for number in range(12)]
    for name in names:
        async with stopped_soon(world, chance):
            await world.claim(name, storageClassName="local-immediate")
    async with background(world.storage().run()):
        volumes = [(await world.bound_volume(name)).metadata.name for name in names]
    assert len(set(volumes)) == len(names)
    assert {each.name for each in world.volumes.iterdir()} == set(volumes)

    for name in names:
        async with stopped_soon(world, chance):
            await world.client.delete(PERSISTENT_VOLUME_CLAIMS, name, "default")
    async with background(world.storage().run()):
        for volume in volumes:
            await world.gone(world.volume_now, volume)
    assert list(world.volumes.iterdir()) == []


@asynccontextmanager
async def stopped_soon(world: World, chance: random.Random) -> AsyncIterator[None]:
    """Somebody is at work, and ends in the middle of it."""
    async with background(world.storage().run()):
        yield
        await asyncio.sleep(chance.uniform(0, 0.08))


async def test_a_claim_that_came_before_the_default_class_is_given_it(world: World) -> None:
    claim = await world.claim("data")
    assert claim.spec.storage_class_name is None

    async with background(world.storage().run()):
        await world.event("data", "WaitForFirstConsumer")

    now = await world.claim_now("data")
    assert now is not None
    assert now.spec.storage_class_name == "local"


async def test_a_volume_that_others_made_is_not_deleted_by_us(storage: World) -> None:
    await storage.volume("theirs", persistentVolumeReclaimPolicy="Delete")
    await storage.claim("data", storageClassName="")
    await storage.bound_volume("data")

    await storage.client.delete(PERSISTENT_VOLUME_CLAIMS, "data", "default")

    volume = await storage.volume_in("theirs", "Failed")
    assert volume.status.message == await storage.event("theirs", "VolumeFailedDelete")
    assert "Delete" in (volume.status.message or "")


async def test_a_volume_that_its_claim_did_not_take_is_free_again(storage: World) -> None:
    await storage.volume("one")
    claim = await storage.claim("data", storageClassName="")
    await storage.bound_volume("data")
    mine = {"namespace": "default", "name": "data", "uid": claim.metadata.uid}

    await storage.volume("two", claimRef=mine)

    volume = await storage.volume_in("two", "Available")
    assert volume.spec.claim_ref is None
