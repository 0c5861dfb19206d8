"""virt-handler, put together: everything that runs for the guests of one node, until it is cancelled.

    async with serving(settings, client, configuration, clock) as handler:
        ...

It knows nothing of the home it lives in: a node's name, folders, a client and certificates are all it has.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import Latch, background
from kubevirt.components.handler import node_labels
from kubevirt.components.handler.arrivals import Arrivals
from kubevirt.components.handler.devices.offered import KVM, plugins
from kubevirt.components.handler.devices.plugin import DevicePlugin
from kubevirt.components.handler.heartbeat import Heartbeat
from kubevirt.components.handler.instances.controller import InstanceController
from kubevirt.components.handler.instances.events import Events
from kubevirt.components.handler.launchers.attendants import Attendants
from kubevirt.components.handler.launchers.identity import Identity
from kubevirt.components.handler.launchers.records import Records
from kubevirt.components.handler.settings import HandlerSettings
from kubevirt.components.handler.web import service as web
from kubevirt.components.handler.web.guests import Guests
from kubevirt.components.handler.web.service import WebService
from kubevirt.host.guest_hardware import guest_hardware
from kubevirt.host.kvm import acceleration
from kubevirt.kube.backoff import BackoffSettings, KeyedBackoff
from kubevirt.kube.client import Client
from kubevirt.kube.controller import Controller, ControllerSettings
from kubevirt.kube.events import FAREWELL_S, EventRecorder
from kubevirt.kube.http.health import Health
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.kube.metrics import Metrics
from kubevirt.kube.queue import WorkQueue
from kubevirt.kube.triggers import own
from kubevirt.virt.instance.names import NODE_LABEL

log = get_logger(__name__)

NAME: Final = "virt-handler"
BACKOFF: Final = BackoffSettings(base_s=0.02, cap_s=30.0)
"""A start that failed is tried again soon enough for whoever mends its cause to see it."""


@dataclass(frozen=True, slots=True)
class Handler:
    """What there is to see of it."""

    vmis: Informer[VirtualMachineInstance]
    attendants: Attendants
    controller: Controller[Key]
    heartbeat: Heartbeat
    recorder: EventRecorder
    port: int | None
    """Where virt-api calls; None if nobody can."""

    def show(self, metrics: Metrics, health: Health) -> None:
        """What there is to see from outside."""
        metrics.add_controller(self.controller)
        health.add("instances", lambda: "" if self.vmis.is_synced else "not complete yet")
        health.add("devices", lambda: "" if self.heartbeat.is_ready() else "not offered yet")


@asynccontextmanager
async def serving(
    settings: HandlerSettings,
    client: Client,
    configuration: Callable[[], KubeVirtConfiguration],
    clock: Clock,
    *,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[Handler]:
    """Looks after the node's guests while the body runs; they go on without it. `tls` is for those who
    call: without it nobody can.
    """
    arrivals = Arrivals()
    attendants = Attendants(settings, Records(settings.records), arrivals, clock)
    recorder = EventRecorder(client, component=NAME, host=settings.node, clock=clock)
    events = Events(recorder)
    vmis = Informer(
        client,
        VIRTUAL_MACHINE_INSTANCES,
        clock=clock,
        label_selector=f"{NODE_LABEL}={settings.node}",
    )
    instances = InstanceController(
        settings.node, client, vmis, attendants, events, configuration, clock
    )
    controller = _controller(instances, vmis, settings, clock)

    def changed(whose: Identity) -> None:
        controller.queue.add(whose.key)

    attendants.notify(changed, events.pass_on)
    offered, heartbeat = await _node(settings, client, arrivals, clock)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(recorder.running())  # to the end: what ends is told of, too
        stack.enter_context(arrivals.running())
        await stack.enter_async_context(attendants.running())
        for each in attendants:
            changed(each.whose)
        work = [vmis.run(), controller.run(), heartbeat.run()]
        work += [each.run() for each in offered]
        await stack.enter_async_context(background(*work))
        stack.push_async_callback(_finish, controller, clock)
        await vmis.wait_synced()
        port = None
        if tls is not None:
            service = WebService(Guests(vmis, attendants), events, settings, clock)
            port = await stack.enter_async_context(web.serving(service, settings, tls, clock))
        yield Handler(vmis, attendants, controller, heartbeat, recorder, port)


def _controller(
    instances: InstanceController,
    vmis: Informer[VirtualMachineInstance],
    settings: HandlerSettings,
    clock: Clock,
) -> Controller[Key]:
    controller: Controller[Key] = Controller(
        NAME,
        instances.reconcile,
        clock=clock,
        queue=WorkQueue(NAME, clock, backoff=KeyedBackoff(BACKOFF)),
        settings=ControllerSettings(workers=settings.workers),
    )
    controller.watch(vmis, own)
    return controller


async def _finish(controller: Controller[Key], clock: Clock) -> None:
    """What it is at, and what waits: between a phase that is written and the event that tells of it nobody
    may be cut short, since whoever comes next finds nothing new to tell of.
    """
    controller.queue.close()
    with suppress(TimeoutError):
        async with clock.timeout(FAREWELL_S):
            await controller.queue.drained()


async def _node(
    settings: HandlerSettings, client: Client, arrivals: Arrivals, clock: Clock
) -> tuple[list[DevicePlugin], Heartbeat]:
    """What the node offers to guests, and how the cluster hears of it."""
    has_kvm = await _has_kvm(settings)
    offered = plugins(settings, arrivals, clock, has_kvm=has_kvm)
    heartbeat = Heartbeat(
        client,
        settings.node,
        clock,
        labels=await _labels() if has_kvm else {},
        is_ready=lambda: all(each.registrations for each in offered),
    )
    return offered, heartbeat


async def _has_kvm(settings: HandlerSettings) -> bool:
    """Whether guests run on the hardware; asked of a guest once, and remembered until the next boot."""
    if not (settings.devices / KVM).exists():
        return False
    settings.nodes.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = await acceleration(settings.nodes)
    log.info("hardware for guests", usable=found.usable, because=found.reason)
    return found.usable


async def _labels() -> dict[str, str]:
    try:
        found = await guest_hardware()
    except KubevirtError as error:
        log.warning("guests that ask for a processor cannot come here", error=error)
        return {}
    return node_labels.labels(_cpuinfo(), found)


def _cpuinfo() -> str:
    return Path("/proc/cpuinfo").read_text()


async def run(
    settings: HandlerSettings,
    client: Client,
    configuration: Callable[[], KubeVirtConfiguration],
    clock: Clock,
    *,
    metrics: Metrics,
    health: Health,
    tls: ssl.SSLContext | None = None,
) -> None:
    """The same until cancelled."""
    started = Latch()
    health.add("start", lambda: "" if started.is_open else "nobody looks after guests yet")
    async with serving(settings, client, configuration, clock, tls=tls) as handler:
        handler.show(metrics, health)
        started.open()
        await asyncio.Event().wait()
