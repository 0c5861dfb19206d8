"""Devices of a node, offered to its kubelet: the embedded node's own side answers."""

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from kubevirt.api.core.pod import Pod
from kubevirt.base.clock import SystemClock
from kubevirt.base.tasks import background
from kubevirt.components.handler.arrivals import Arrivals
from kubevirt.components.handler.devices import plugin
from kubevirt.components.handler.devices.nodes import node
from kubevirt.components.handler.devices.offered import plugins
from kubevirt.components.handler.settings import HandlerSettings
from kubevirt.embedded.node.devices.devices import DevicePlugins, DeviceSettings

SOCKETS = "var/lib/kubelet/device-plugins"
KVM, TUN = "devices.kubevirt.io/kvm", "devices.kubevirt.io/tun"
LIMIT_S = 60.0


class Kubelet:
    def __init__(self, folder: Path) -> None:
        self.bell = asyncio.Event()
        settings = DeviceSettings(
            root=folder / "root", private=folder / "own", cdi_folders=(folder / "cdi",)
        )
        self.devices = DevicePlugins(settings, SystemClock(), self.bell.set)

    async def has(self, wanted: dict[str, tuple[int, int]]) -> None:
        """Waits for it: all and healthy, by resource."""
        async with asyncio.timeout(LIMIT_S):
            while dict(self.devices.capacity) != wanted:
                self.bell.clear()
                await self.bell.wait()


@asynccontextmanager
async def a_kubelet(folder: Path) -> AsyncIterator[Kubelet]:
    made = Kubelet(folder)
    async with made.devices.running():
        yield made


def settings(folder: Path, *names: str) -> HandlerSettings:
    for name in names:
        file = folder / "dev" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return HandlerSettings(
        node="node01",
        device_plugins=folder / "root" / SOCKETS,
        devices=folder / "dev",
        records=folder / "records",
        places=110,
    )


@asynccontextmanager
async def offering(chosen: HandlerSettings, *, has_kvm: bool = True) -> AsyncIterator[None]:
    arrivals = Arrivals()
    with arrivals.running():
        offered = plugins(chosen, arrivals, SystemClock(), has_kvm=has_kvm)
        async with background(*(each.run() for each in offered)):
            yield


async def test_a_node_offers_what_it_has_in_so_many_places(tmp_path: Path) -> None:
    async with a_kubelet(tmp_path) as kubelet, offering(settings(tmp_path, "kvm", "net/tun")):
        await kubelet.has({KVM: (110, 110), TUN: (110, 110)})


async def test_a_kvm_that_runs_no_guest_is_not_offered(tmp_path: Path) -> None:
    chosen = settings(tmp_path, "kvm", "net/tun")
    async with a_kubelet(tmp_path) as kubelet, offering(chosen, has_kvm=False):
        await kubelet.has({TUN: (110, 110)})


async def test_a_device_that_goes_is_ill_and_one_that_comes_back_is_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin, "LOOK_S", 0.05)
    async with a_kubelet(tmp_path) as kubelet, offering(settings(tmp_path, "kvm")):
        await kubelet.has({KVM: (110, 110)})
        (tmp_path / "dev/kvm").unlink()
        await kubelet.has({KVM: (110, 0)})
        (tmp_path / "dev/kvm").touch()
        await kubelet.has({KVM: (110, 110)})


async def test_a_kubelet_that_was_restarted_is_told_again(tmp_path: Path) -> None:
    chosen = settings(tmp_path, "kvm")
    async with a_kubelet(tmp_path) as kubelet, offering(chosen):
        await kubelet.has({KVM: (110, 110)})
    async with offering(chosen):
        async with a_kubelet(tmp_path) as kubelet:
            await kubelet.has({KVM: (110, 110)})
        async with a_kubelet(tmp_path) as kubelet:
            await kubelet.has({KVM: (110, 110)})


async def test_a_container_gets_the_device_that_it_was_given(tmp_path: Path) -> None:
    container = {"name": "compute", "image": "x", "resources": {"limits": {TUN: "1"}}}
    pod = msgspec.convert(
        {"metadata": {"name": "one", "uid": "one"}, "spec": {"containers": [container]}}, Pod
    )
    assert pod.spec is not None
    async with a_kubelet(tmp_path) as kubelet, offering(settings(tmp_path, "net/tun")):
        await kubelet.has({TUN: (110, 110)})
        given = await kubelet.devices.allocate(pod, pod.spec.containers[0])
    assert [(each.source, each.target) for each in given.mounts] == [
        (str(tmp_path / "dev/net/tun"), "/dev/net/tun")
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it makes device nodes")
def test_a_device_for_root_only_gets_a_node_that_launchers_may_open(tmp_path: Path) -> None:
    device = tmp_path / "null"
    os.mknod(device, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    own = node(device, tmp_path / "own", 107)
    found = own.stat()
    assert (own.name, found.st_uid, found.st_rdev) == ("null", 107, os.makedev(1, 3))
    assert device.stat().st_uid == 0
    assert node(device, tmp_path / "own", 107) == own
    device.chmod(0o666)
    assert node(device, tmp_path / "own", 107) == device
