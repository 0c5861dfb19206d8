"""What goes wrong is said where a user looks: in the machine's status, its conditions, its events. Mended, it goes on by
itself: nobody restarts anything.

Each row names what `kubectl get vm` shows, the reason, and the words of what is wrong and of the way out.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.e2e.vms.objects import a_claim, a_disk, a_guest, a_vm, of_claim
from tests.e2e.vms.place import Object, Place
from tests.e2e.vms.trouble import (
    MIB,
    Shelf,
    Trouble,
    a_disk_file,
    a_shelf,
    all_told_and_mended,
    another_image,
    changing,
    creating,
    small,
    waiting,
)

from kubevirt.api import scheme
from kubevirt.kube.errors import NotFound
from kubevirt.kube.patches import MergePatch

NO_IMAGE = "ErrImagePull ImagePullBackOff"
GOES_ON = "and the start goes on by itself"


@pytest.fixture
def shelf(place: Place) -> Iterator[Shelf]:
    with a_shelf(place) as shelf:
        yield shelf


async def test_images(place: Place, shelf: Shelf) -> None:
    at = shelf.prefix
    good = shelf.put("good:1", a_disk_file("good"))
    shelf.put("damaged:1", a_disk_file("damaged"), damaged=True)
    shelf.put("empty:1", {"etc/motd": b"nothing to boot here"})
    shelf.put("no-disk:1", {"disk/disk.qcow2": b"QFI\xfb" + bytes(range(200))})
    await all_told_and_mended(
        place,
        Trouble(
            waiting("missing", image=f"{at}/missing:1"),
            NO_IMAGE,
            "ImagePullBackOff",
            (f'Back-off pulling image "{at}/missing:1"', "cannot be pulled now", GOES_ON),
            shelf.putting("missing:1", a_disk_file("missing")),
        ),
        Trouble(
            waiting("damaged", image=f"{at}/damaged:1"),
            NO_IMAGE,
            "ImagePullBackOff",
            ("is damaged", "make the image available", GOES_ON),
            shelf.putting("damaged:1", a_disk_file("damaged")),
        ),
        Trouble(
            waiting("digest", image=f"{at}/good@sha256:{'0' * 64}"),
            NO_IMAGE,
            "ImagePullBackOff",
            ("sha256:0000", f"what lies here under that name is {good}", "name another", GOES_ON),
            another_image("digest", f"{at}/good@{good}"),
            begins_anew=True,
        ),
        Trouble(
            waiting("empty", image=f"{at}/empty:1"),
            "Starting",
            "SyncFailed",
            (f"{at}/empty:1 is no container disk", "set the path"),
            another_image("empty", f"{at}/good:1"),
            begins_anew=True,
        ),
        Trouble(
            waiting("no-disk", image=f"{at}/no-disk:1"),
            "Starting",
            "SyncFailed",
            ("volume 'root' is no disk that a guest can have", "name another image"),
            another_image("no-disk", f"{at}/good:1"),
            begins_anew=True,
        ),
    )


# Storage.


def on_claim(name: str) -> Object:
    return a_disk("data", of_claim(name))


@pytest.fixture
async def classes(place: Place) -> AsyncIterator[str]:
    """The name of a class of storage that is not there; if a test makes it, it goes."""
    yield place.namespace
    with suppress(NotFound):
        await place.client.delete(scheme.STORAGE_CLASSES.raw, place.namespace)


@pytest.fixture
async def volume(place: Place, tmp_path: Path) -> AsyncIterator[str]:
    """A folder that is a volume, for a claim that asks for it by name."""
    name = place.namespace
    await place.client.create(
        scheme.PERSISTENT_VOLUMES.raw,
        {
            "metadata": {"name": name},
            "spec": {
                "capacity": {"storage": "64Mi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "",
                "hostPath": {"path": str(tmp_path)},
            },
        },
    )
    yield name
    await place.client.delete(scheme.PERSISTENT_VOLUMES.raw, name)


async def test_storage(place: Place, classes: str, volume: str, tmp_path: Path) -> None:
    async def make_class(_: Place) -> None:
        body = {"metadata": {"name": classes}, "provisioner": "kubevirt.io/local-folder"}
        await place.client.create(scheme.STORAGE_CLASSES.raw, body)

    with small(tmp_path, 16 * MIB) as resize:

        async def make_room(_: Place) -> None:
            resize(128 * MIB)

        await place.create(
            a_claim("pending", "8Mi", storageClassName=classes),
            a_claim("small", "64Mi", storageClassName="", volumeName=volume),
        )
        await all_told_and_mended(
            place,
            Trouble(
                waiting("missing", volumes=[on_claim("missing")]),
                "ErrorPvcNotFound",
                "FailedPvcNotFound",
                (f"PVC {place.namespace}/missing does not exist", "create it", GOES_ON),
                creating(a_claim("missing", "8Mi")),
            ),
            Trouble(
                waiting("pending", volumes=[on_claim("pending")]),
                "ErrorUnschedulable",
                "Unschedulable",
                ("unbound immediate PersistentVolumeClaims", "kubectl describe pvc", GOES_ON),
                make_class,
            ),
            Trouble(
                waiting("small", volumes=[on_claim("small")]),
                "Starting",
                "SyncFailed",
                ("unable to create disk.img of volume 'data'", "make room there"),
                make_room,
            ),
        )
        assert (tmp_path / "disk.img").stat().st_size == 64 * MIB
        for name in ("missing", "pending", "small"):
            await place.delete(name)
            await place.until_gone(name)


async def test_a_disk_that_is_full_stops_its_guest_until_there_is_room(
    place: Place, volume: str, tmp_path: Path
) -> None:
    with small(tmp_path, 8 * MIB) as resize:
        disk = tmp_path / "disk.img"
        disk.touch(mode=0o666)
        disk.chmod(0o666)
        with disk.open("r+b") as file:
            file.truncate(48 * MIB)
        await place.create(a_claim("full", "64Mi", storageClassName="", volumeName=volume))
        await place.create(a_vm("full", runStrategy="Always", volumes=[on_claim("full")]))
        with place.console("full") as guest:
            guest.log_in()
            guest.run(
                "sudo dd if=/dev/zero of=/dev/vdb bs=1M count=24 conv=fsync 2>/dev/null & true"
            )
            vm = await place.until_status("full", "Paused")
            (paused,) = [each for each in vm["status"]["conditions"] if each["type"] == "Paused"]
            assert paused["reason"] == "PausedIOError"
            assert "make room there, and the guest goes on by itself" in paused["message"]
            text = "VM Paused due to not enough space on volume: data"
            assert (await place.until_event("full", "IOerror", text))["type"] == "Warning"
            resize(128 * MIB)
            await place.until_status("full", "Running")
            guest.run("wait")
        await place.delete("full")
        await place.until_gone("full")
        assert disk.stat().st_blocks * 512 >= 24 * MIB


# Placement.


async def test_placement(place: Place) -> None:
    label = f"test.kubevirt.io/{place.namespace}"

    async def label_node(_: Place) -> None:
        nodes = await place.client.list(scheme.NODES.raw)
        patch = MergePatch({"metadata": {"labels": {label: "here"}}})
        await place.client.patch(scheme.NODES.raw, nodes.items[0]["metadata"]["name"], patch)

    try:
        await all_told_and_mended(
            place,
            Trouble(
                waiting("large", domain={"resources": {"requests": {"memory": "900Gi"}}}),
                "ErrorUnschedulable",
                "Unschedulable",
                ("Insufficient memory", "ask for less memory", GOES_ON),
                changing("large", domain={"resources": {"requests": {"memory": "64M"}}}),
                begins_anew=True,
            ),
            Trouble(
                waiting("elsewhere", nodeSelector={label: "here"}),
                "ErrorUnschedulable",
                "Unschedulable",
                ("didn't match Pod's node affinity/selector", "give a node the labels", GOES_ON),
                label_node,
            ),
        )
    finally:
        for node in (await place.client.list(scheme.NODES.raw)).items:
            patch = MergePatch({"metadata": {"labels": {label: None}}})
            await place.client.patch(scheme.NODES.raw, node["metadata"]["name"], patch)


# Secrets and config maps.


def a_secret(name: str, **data: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name},
        "stringData": data,
    }


async def test_secrets_and_config_maps(place: Place) -> None:
    keys = {
        "sshPublicKey": {
            "source": {"secret": {"secretName": "keys"}},
            "propagationMethod": {"noCloud": {}},
        }
    }
    settings = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings"},
        "data": {"a": "b"},
    }
    init = a_disk("init", {"cloudInitNoCloud": {"secretRef": {"name": "init"}}})
    inline = a_disk("init", {"cloudInitNoCloud": {"userData": "#cloud-config\n"}})
    await all_told_and_mended(
        place,
        _unmounted(
            "init", 'secret "init" not found', a_secret("init", userdata="#cloud-config\n"), init
        ),
        _unmounted(
            "secret",
            'secret "files" not found',
            a_secret("files", a="b"),
            a_disk("files", {"secret": {"secretName": "files"}}),
        ),
        _unmounted(
            "config",
            'configmap "settings" not found',
            settings,
            a_disk("files", {"configMap": {"name": "settings"}}),
        ),
        Trouble(
            waiting("keys", volumes=[inline], accessCredentials=[keys]),
            "Starting",
            "FailedMount",
            ('secret "keys" not found', "create it", GOES_ON),
            creating(a_secret("keys", key="ssh-ed25519 AAAA somebody")),
        ),
    )


def _unmounted(name: str, said: str, missing: Object, volume: Object) -> Trouble:
    return Trouble(
        waiting(name, volumes=[volume]),
        "Starting",
        "FailedMount",
        ("MountVolume.SetUp failed", said, "create it", GOES_ON),
        creating(missing),
    )


# What is said at once, as it is applied.


def test_user_data_that_is_broken_is_warned_of(place: Place) -> None:
    volume = a_disk("init", {"cloudInitNoCloud": {"userData": "#cloud-config\nusers: [a\nb: c"}})
    said = _tried(place, a_vm(volumes=[volume]))
    assert "Warning: spec.template.spec.volumes[1]: userData is no YAML" in said
    assert "virtualmachine.kubevirt.io/testvm created" in said


def test_a_machine_with_nothing_to_boot_from_is_warned_of(place: Place) -> None:
    vm = a_vm()
    vm["spec"]["template"]["spec"] = a_guest()
    vm["spec"]["template"]["spec"]["volumes"] = []
    vm["spec"]["template"]["spec"]["domain"]["devices"]["disks"] = []
    said = _tried(place, vm)
    assert "Warning: spec.template.spec has nothing to boot from" in said
    assert "virtualmachine.kubevirt.io/testvm created" in said


def _tried(place: Place, vm: Object) -> str:
    """What kubectl says of it; nothing is stored."""
    said = place.kubectl("create", "--dry-run=server", "--filename=-", typed=json.dumps(vm))
    return said.out + said.err


# What takes a home of its own.


async def test_a_gate_that_is_closed_a_node_that_is_tainted_and_a_folder_that_is_not_open(
    own_place: Place,
) -> None:
    place = own_place
    folder = place.home.folder / "disk"
    disk = {"path": str(folder / "disk.img"), "type": "DiskOrCreate", "capacity": "8Mi"}
    vm = waiting("hosted", volumes=[a_disk("data", {"hostDisk": disk})])
    assert "HostDisk feature gate is not enabled" in _tried(place, vm)
    _open_gate(place, "HostDisk")
    assert place.kubectl("taint", "node", "--all", "test/reserved=yes:NoSchedule").code == 0

    async def untaint(_: Place) -> None:
        assert place.kubectl("taint", "node", "--all", "test/reserved-").code == 0

    async def open_folder(_: Place) -> None:
        await asyncio.to_thread(folder.chmod, 0o777)

    await Trouble(
        vm,
        "ErrorUnschedulable",
        "Unschedulable",
        ("untolerated taint", "take the taint from the node", GOES_ON),
        untaint,
    ).is_told(place)
    reserved = [{"key": "test/reserved", "operator": "Equal", "value": "yes"}]
    await place.create(waiting("tolerant", tolerations=reserved))
    await place.until_status("tolerant", "Paused")
    await untaint(place)
    closed = Trouble(
        vm,
        "Starting",
        "SyncFailed",
        ("volume 'data' has no disk yet", "is closed to user 107", "chown 107"),
        open_folder,
    )
    await closed.is_seen(place)
    await closed.is_mended(place)
    assert (folder / "disk.img").stat().st_size == 8 * MIB


def _open_gate(place: Place, name: str) -> None:
    developer = {"developerConfiguration": {"featureGates": [name]}}
    patch = json.dumps({"spec": {"configuration": developer}})
    words = ("kubevirt", "kubevirt", "--namespace=kubevirt", "--type=merge", f"--patch={patch}")
    said = place.kubectl("patch", *words)
    assert said.code == 0, said.err
