"""A home with KubeVirt in it: its programs are tasks of the home's process, and nothing of them stays."""

import asyncio
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.component.embedded.process.conftest import Virtctl, a_home

from guestimage.image import Images
from kubevirt.api.scheme import (
    API_SERVICES,
    KUBEVIRTS,
    PODS,
    VIRTUAL_MACHINE_INSTANCES,
    VIRTUAL_MACHINES,
)
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError
from kubevirt.virt import gates

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(os.geteuid() != 0, reason="an embedded home is root's: run as root"),
]


def machine(name: str, strategy: str) -> dict[str, Any]:
    template = {"spec": {"domain": {"devices": {}, "memory": {"guest": "64Mi"}}}}
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"runStrategy": strategy, "template": template},
    }


@pytest.fixture
def virtctl() -> Iterator[Virtctl]:
    with a_home() as caller:
        yield replace(caller, has_kubevirt=True)


def client(home: Path) -> Client:
    return Client(kubeconfig.load([home / "kubeconfig"], {}))


async def test_it_is_installed_and_at_work_when_up_returns(virtctl: Virtctl) -> None:
    told = virtctl.up()
    assert "KubeVirt: installed" in told.err
    async with client(virtctl.home.path) as api:
        made = await api.create(VIRTUAL_MACHINES.raw, machine("idle", "Halted"))
        assert made["metadata"]["finalizers"]  # virt-api's hand
        with pytest.raises(ApiError, match=r"Invalid RunStrategy \(Sometimes\)"):
            await api.create(VIRTUAL_MACHINES.raw, machine("restless", "Sometimes"))
        for version in ("v1", "v1alpha3"):
            service = await api.get(API_SERVICES, f"{version}.subresources.kubevirt.io")
            assert {each.type: each.status for each in service.status.conditions} == {
                "Available": "True"
            }
        found = await api.get(KUBEVIRTS, "kubevirt", "kubevirt")
        assert found.spec.configuration.developer_configuration is not None
        assert gates.is_on(found.spec.configuration, gates.IMAGE_VOLUME)
    assert json.loads(virtctl("status", "-o", "json").out)["kubevirt"]["phase"] in (
        "Deployed",
        "Deploying",
    )


async def test_a_home_that_is_brought_up_again_installs_nothing(virtctl: Virtctl) -> None:
    virtctl.up()
    async with client(virtctl.home.path) as api:
        await api.create(VIRTUAL_MACHINES.raw, machine("idle", "Halted"))
    virtctl.kill()
    assert "KubeVirt: installed" not in virtctl.up().err
    async with client(virtctl.home.path) as api:
        assert await api.get(VIRTUAL_MACHINES.raw, "idle", "default")
    assert virtctl("down").code == 0
    assert not (virtctl.home.path / "virt-api.sock").exists()


GUEST = {
    "metadata": {"name": "alive", "namespace": "default"},
    "spec": {
        "runStrategy": "Always",
        "template": {
            "spec": {
                "terminationGracePeriodSeconds": 0,
                "domain": {
                    "devices": {"disks": [{"name": "root", "disk": {"bus": "virtio"}}]},
                    "resources": {"requests": {"memory": "64M"}},
                },
                "volumes": [
                    {
                        "name": "root",
                        "containerDisk": {"image": "kubevirt/cirros-container-disk-demo"},
                    }
                ],
            }
        },
    },
}
LIMIT_S = 200.0


async def test_a_guest_lives_in_it_and_outlives_its_process(
    virtctl: Virtctl, guest_images: Images
) -> None:
    virtctl.up()
    archives = virtctl.home.path / "images" / "archives"
    archives.mkdir(exist_ok=True)
    shutil.copy(guest_images.archive("cirros"), archives)
    async with client(virtctl.home.path) as api:
        await api.create(VIRTUAL_MACHINES.raw, GUEST)
        await reaches(api, "Running")
    before = emulators(virtctl)
    assert len(before) == 1
    virtctl.kill()
    virtctl.up()
    async with client(virtctl.home.path) as api:
        await reaches(api, "Running")
        assert emulators(virtctl) == before
        await api.delete(VIRTUAL_MACHINES, "alive", "default")
        await are_gone(api)
    assert not emulators(virtctl)
    assert refused_to_ours(virtctl) == []


async def reaches(api: Client, phase: str) -> None:
    async with asyncio.timeout(LIMIT_S):
        async for event in api.watch(VIRTUAL_MACHINE_INSTANCES, "default", resource_version=None):
            if getattr(getattr(event.object, "status", None), "phase", None) == phase:
                return


async def are_gone(api: Client) -> None:
    """The pods of guests."""
    async with asyncio.timeout(LIMIT_S):
        while (await api.list(PODS, "default")).items:  # noqa: ASYNC110  # none is an event
            await asyncio.sleep(0.1)


def emulators(virtctl: Virtctl) -> set[str]:
    """Of this home's guests: processes in the control groups of its pods."""
    found = set[str]()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_ours = virtctl.home.id in (folder / "cgroup").read_text()
            if is_ours and (folder / "comm").read_text().startswith("qemu-system"):
                found.add(folder.name)
        except (OSError, ValueError):
            continue
    return found


def refused_to_ours(virtctl: Virtctl) -> list[str]:
    """What our programs asked for and may not have: rights are as few as they need, and not fewer."""
    lines = map(json.loads, (virtctl.home.path / "audit.log").read_text().splitlines())
    return [
        f"{line['user']['username']}: {line['verb']} {line['requestURI']}"
        for line in lines
        if line["user"]["username"].startswith("system:serviceaccount:kubevirt:")
        and line.get("responseStatus", {}).get("code") == 403
    ]
