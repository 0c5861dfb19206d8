"""The plans of a guest's volumes, carried out: what virt/ decides is what host/ can do."""

import os
from pathlib import Path

import msgspec
import pytest
from tests.component.host.images import Image, disk

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.clock import Clock
from kubevirt.host import iso
from kubevirt.host.oci.cache import ImageCache
from kubevirt.host.oci.layout import OciArchive
from kubevirt.host.qemu_img.disks import create_blank, create_overlay
from kubevirt.host.qemu_img.image import admit, describe
from kubevirt.virt.layout import Layout
from kubevirt.virt.volumes.plan import BlankDisk, IsoImage, Overlay, VolumePlan
from kubevirt.virt.volumes.planning import Contents, plan_volumes

VOLUMES = [
    {"name": "root", "containerDisk": {"image": "kubevirt/demo"}},
    {"name": "scratch", "emptyDisk": {"capacity": "1Gi"}},
    {"name": "seed", "cloudInitNoCloud": {"userData": "#cloud-config\n"}},
    {"name": "drive", "cloudInitConfigDrive": {"userData": "#cloud-config\n"}},
    {"name": "settings", "configMap": {"name": "settings", "volumeLabel": "set-up"}},
    {"name": "answers", "sysprep": {"configMap": {"name": "answers"}}},
]
FILES = {"settings": {"a.conf": b"1"}, "answers": {"Autounattend.xml": b"<xml/>"}}


def a_guest() -> VirtualMachineInstance:
    spec = {
        "domain": {"devices": {"disks": [{"name": each["name"]} for each in VOLUMES]}},
        "volumes": VOLUMES,
    }
    metadata = {"name": "testvm", "namespace": "default", "uid": "1234"}
    return msgspec.convert({"metadata": metadata, "spec": spec}, VirtualMachineInstance)


async def carry_out(plan: VolumePlan) -> None:
    match plan:
        case Overlay():
            await create_overlay(plan.path, await admit(plan.backing, plan.backing_format))
        case BlankDisk():
            await create_blank(plan.path, plan.size_bytes)
        case IsoImage():
            iso.write(plan.path, plan.label, plan.files)
        case _:
            pytest.fail(f"nothing to do for {plan}")


def content(path: str) -> bytes:
    return Path(path).read_bytes()


async def test_every_disk_of_a_guest_is_made_and_making_them_twice_changes_nothing(
    tmp_path: Path, clock: Clock
) -> None:
    archive = Image([disk(os.urandom(1 << 20))]).archive(tmp_path / "image.tar")
    image = await ImageCache(tmp_path / "cache", clock).unpacked(OciArchive(archive))
    layout = Layout(private=f"{tmp_path}/private", ephemeral=f"{tmp_path}/ephemeral")
    contents = Contents(volumes=FILES, images={"root": str(image.disk())})
    plans = plan_volumes(a_guest(), layout, contents)
    assert len(plans) == len(VOLUMES)
    for plan in plans:
        await carry_out(plan)
    before = {plan.path: content(plan.path) for plan in plans}
    for plan in plans:
        await carry_out(plan)
    assert {plan.path: content(plan.path) for plan in plans} == before
    root = await describe(layout.overlay("root"), "qcow2")
    assert (root.backing_filename, root.virtual_size) == (str(image.disk()), 1 << 20)
    assert (await admit(layout.empty_disk("scratch"), "qcow2")).virtual_bytes == 1 << 30
