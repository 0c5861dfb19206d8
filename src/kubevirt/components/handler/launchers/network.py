"""The network of one launcher's pod: links and rules for its guest, and the guest's DHCP server.

The pod is read once, before anything is changed, and written down. From then on the same plan is applied
whenever somebody asks, which changes nothing where it is in place.
"""

import asyncio
from contextlib import suppress
from ipaddress import ip_interface
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.clock import Clock
from kubevirt.base.errors import UnsafePath, UserError
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger
from kubevirt.components.handler.launchers.door import Door
from kubevirt.components.handler.launchers.records import Record, Records
from kubevirt.host.net import dnsmasq
from kubevirt.host.net.apply import apply, undo
from kubevirt.host.net.netns import Namespace
from kubevirt.host.net.pod import NO_RESOLVER, read_pod
from kubevirt.host.net.resolver import Resolver, parse
from kubevirt.rpc.errors import NoAnswer
from kubevirt.virt.network.names import PRIMARY_LINK
from kubevirt.virt.network.plan import InterfacePlan
from kubevirt.virt.network.planning import plan_network

log = get_logger(__name__)

CARDS: Final = "interfaces.json"
RESOLVER_LIMIT: Final = 64 << 10
MESH: Final = "sidecar.istio.io/inject"


class PodNetwork:
    def __init__(
        self, records: Records, record: Record, tasks: asyncio.TaskGroup, user: int, clock: Clock
    ) -> None:
        self._records = records
        self._record = record
        self._tasks = tasks
        self._user = user
        self._clock = clock
        self._namespace: Namespace | None = None
        self._server: asyncio.Task[None] | None = None
        self._started: asyncio.Future[None] | None = None

    @property
    def addresses(self) -> tuple[str, ...]:
        """Of the pod, without their prefixes."""
        links = self._record.pod.links if self._record.pod else {}
        primary = links.get(PRIMARY_LINK)
        found = map(ip_interface, primary.addresses) if primary else ()
        return tuple(str(each.ip) for each in found)

    async def connect(self, vmi: VirtualMachineInstance, door: Door, public: Root) -> None:
        """Makes it so, or finds that it is so, and begins to serve the guest's DHCP."""
        if not vmi.spec.domain.devices.interfaces:
            return
        if self._namespace is None:
            self._namespace = _not_ours(door.namespace())
        if self._record.pod is None:
            await self._plan(vmi, door, self._namespace)
        plans = self._record.plans
        for change in await apply(self._namespace, plans):
            log.debug("network", pod=self._record.whose.pod, change=change)
        _write_cards(public, plans, self._user)
        if self._server is None and any(plan.dhcp for plan in plans):
            self._started = asyncio.get_running_loop().create_future()
            # Whoever waits for it is told what went wrong; if nobody does, it is tried again.
            self._started.add_done_callback(lambda it: it.cancelled() or it.exception())
            self._server = self._tasks.create_task(
                self._serve(self._namespace, plans, self._started)
            )

    async def answers(self) -> None:
        """Returns when the guest's DHCP is served, if it is to be. A guest takes longer to ask for it."""
        if self._started is None:
            return
        await asyncio.wait([self._started])
        if self._started.cancelled():
            raise NoAnswer("the pod went before its guest's DHCP was served")
        self._started.result()

    async def disconnect(self) -> None:
        """Leaves the pod as its CNI plugin left it, if it is still there: the plugin will want to take
        away what it made.
        """
        await self.stop_serving()
        if self._namespace is not None:
            await undo(self._namespace, self._record.plans)
        self.close()

    async def stop_serving(self) -> None:
        if self._server is not None:
            self._server.cancel()
            await asyncio.wait([self._server])
            self._server = None

    def close(self) -> None:
        """Lets go of the namespace, which would live as long as we hold it."""
        if self._namespace is not None:
            self._namespace.close()
            self._namespace = None

    async def _plan(self, vmi: VirtualMachineInstance, door: Door, namespace: Namespace) -> None:
        with Root.open(Path(f"/proc/{door.peer.pid}/root")) as inside:
            resolver, has_vhost = _resolver(inside), inside.exists("dev/vhost-net")
        if not door.peer.is_alive:  # then we may have looked at another's
            raise NoAnswer("the launcher's manager has just ended")
        pod = await read_pod(
            namespace,
            resolver,
            owner=self._user,
            istio=vmi.metadata.annotations.get(MESH) == "true",
            vhost_net=has_vhost,
        )
        self._record = replace(self._record, pod=pod, plans=plan_network(vmi, pod))
        self._records.put(self._record)

    async def _serve(
        self,
        namespace: Namespace,
        plans: tuple[InterfacePlan, ...],
        started: "asyncio.Future[None]",
    ) -> None:
        try:
            async with dnsmasq.serving_all(namespace, plans, clock=self._clock):
                started.set_result(None)
                await asyncio.Event().wait()
        except Exception as error:
            if started.done():
                raise
            self._server = None
            started.set_exception(error)
        finally:
            started.cancel()


def _not_ours(found: Namespace) -> Namespace:
    """A launcher that says it lives in the node's own network would have us change that."""
    with Namespace.current() as own:
        if found.identity != own.identity:
            return found
    found.close()
    raise UserError(
        "the launcher runs in the node's own network namespace, where nothing is changed for guests",
        reason="HostNetwork",
    )


def _resolver(inside: Root) -> Resolver:
    """Whom the pod asks for names; a pod may ask nobody."""
    with suppress(FileNotFoundError, NotADirectoryError, UnsafePath):
        return parse(inside.read("etc/resolv.conf", limit=RESOLVER_LIMIT).decode(errors="replace"))
    return NO_RESOLVER


def _write_cards(public: Root, plans: tuple[InterfacePlan, ...], user: int) -> None:
    """For the domain, whose launcher opens the taps."""
    cards = msgspec.json.encode({plan.interface: plan.card for plan in plans})
    public.write(CARDS, cards, mode=0o640, owner=(user, user), durable=False)
