"""The devices of a node, for its pods: how many there are, and those of one container.

devices = DevicePlugins(settings, clock)
async with devices.running():
    devices.capacity                      # {"devices.kubevirt.io/kvm": (1000, 1000)}
    await devices.allocate(pod, container)
"""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError, UserError
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import background
from kubevirt.embedded.node.devices import cdi, choosing
from kubevirt.embedded.node.devices.attendance import GONE_S, Attendance
from kubevirt.embedded.node.devices.choosing import TooFew
from kubevirt.embedded.node.devices.fitting import fitted
from kubevirt.embedded.node.devices.ledger import Given, Ledger
from kubevirt.embedded.node.devices.registry import Registry
from kubevirt.embedded.node.devices.wire import LazyGrpc, Wire
from kubevirt.embedded.node.neighbours import Allocated, NotNow
from kubevirt.rpc.devices import VERSION, Answer, Plugin, Registered

log = get_logger(__name__)

REASON: Final = "UnexpectedAdmissionError"
_FOLDER: Final = "var/lib/kubelet/device-plugins"
_RESOURCE: Final = re.compile(
    r"(?=.{1,253}/)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*"
    r"/[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
)
_SOCKET: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


class DeviceSettings(msgspec.Struct, frozen=True, kw_only=True):
    root: Path
    """Of the node, as components know it."""
    private: Path
    """A folder of the node's own, for what it has to remember."""
    cdi_folders: tuple[Path, ...] = cdi.FOLDERS


def _nothing() -> None:
    pass


class DevicePlugins:
    def __init__(
        self,
        settings: DeviceSettings,
        clock: Clock,
        changed: Callable[[], None] = _nothing,
        wire: Wire | None = None,
    ) -> None:
        """`changed` is called when `capacity` has become another."""
        self._settings = settings
        self._clock = clock
        self.changed = changed
        self._wire = wire or LazyGrpc()
        self._folder = settings.root / _FOLDER
        for each in (self._folder, settings.private):
            each.mkdir(mode=0o750, parents=True, exist_ok=True)
        self._private = Root.open(settings.private)
        self._ledger = Ledger(self._private)
        self._attending: dict[str, Attendance] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._choosing: dict[str, asyncio.Lock] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator["DevicePlugins"]:
        """Plugins may come while the body runs."""
        with ExitStack() as stack:
            stack.callback(self._private.close)
            folder = stack.enter_context(Root.open(self._folder))
            registry = Registry(folder, self._private, self._wire, self._clock)
            listener = stack.enter_context(registry.open())
            async with background(self._run(registry, listener, folder)):
                yield self

    async def _run(self, registry: Registry, listener: socket.socket, folder: Root) -> None:
        async with asyncio.TaskGroup() as group:

            async def register(registered: Registered) -> None:
                _check(registered)
                self._ledger.note_resource(registered.resource)
                self._attend(registered, folder, group)

            group.create_task(self._forget_who_stays_away())
            await registry.run(listener, register)

    def _attend(self, registered: Registered, folder: Root, group: asyncio.TaskGroup) -> None:
        """In place of whoever had the resource before."""
        resource = registered.resource
        before = self._attending.get(resource)
        if before:
            self._tasks[resource].cancel()
        log.info("a device plugin has come", resource=resource, socket=registered.socket)
        found = Attendance(registered, self._tell, before)
        self._attending[resource] = found
        self._tasks[resource] = group.create_task(found.run(folder, self._wire.plugin, self._clock))

    def _tell(self) -> None:
        self.changed()

    async def _forget_who_stays_away(self) -> None:
        """Resources of the time before us whose plugins do not come back."""
        await self._clock.sleep(GONE_S)
        for resource in self._ledger.resources - self._attending.keys():
            self._ledger.forget_resource(resource)
        self._tell()

    # What pods ask

    @property
    def capacity(self) -> Mapping[str, tuple[int, int]]:
        known = dict.fromkeys(self._ledger.resources, (0, 0))
        attending = self._attending.items()
        return known | {name: (len(each.devices), len(each.healthy)) for name, each in attending}

    async def allocate(self, pod: Pod, container: Container) -> Allocated:
        resources = self._ledger.resources | self._attending.keys()
        wanted = choosing.wanted(container, resources)
        answers = [
            await self._allocated(pod, container, resource, count)
            for resource, count in sorted(wanted.items())
        ]
        try:
            described = [cdi.described(each.names, self._settings.cdi_folders) for each in answers]
            return fitted([*answers, *described], self._settings.root)
        except (KubevirtError, OSError) as error:
            raise _not_now(str(error)) from None

    def free(self, uid: str) -> None:
        self._ledger.free(uid)

    async def _allocated(self, pod: Pod, container: Container, resource: str, count: int) -> Answer:
        uid = pod.metadata.uid or ""
        async with self._choosing.setdefault(resource, asyncio.Lock()):
            given = self._ledger.of(uid, container.name, resource)
            if given is None:
                given = await self._chosen(pod, container.name, resource, count)
                self._ledger.give(uid, container.name, resource, given)
        attending = self._attending.get(resource)
        if attending and attending.registered.options.needs_pre_start:
            await self._told_of_start(attending, given)
        return given.answer

    async def _chosen(self, pod: Pod, container: str, resource: str, count: int) -> Given:
        attending = self._attending.get(resource)
        if attending is None or attending.plugin is None:
            raise _not_now(f"no device plugin serves {resource} at the moment")
        held = self._ledger.held(resource)
        choice = choosing.choice(resource, count, attending.healthy, held, pod, container)
        if isinstance(choice, TooFew):
            raise _not_now(choice.why)
        plugin = attending.plugin
        try:
            preferred = (
                await plugin.preferred(choice.available, choice.included, count)
                if attending.registered.options.has_preferences
                else ()
            )
            ids = choosing.chosen(choice, preferred)
            return Given(ids, await plugin.allocate(ids))
        except KubevirtError as error:
            raise _not_now(str(error)) from None

    async def _told_of_start(self, attending: Attendance, given: Given) -> None:
        plugin: Plugin | None = attending.plugin
        try:
            if plugin is None:
                raise UserError(f"no device plugin serves {attending.registered.resource}")
            await plugin.pre_start(given.ids)
        except KubevirtError as error:
            raise _not_now(str(error)) from None


def _not_now(why: str) -> NotNow:
    return NotNow(REASON, f"Allocate failed due to {why}, which is unexpected")


def _check(registered: Registered) -> None:
    """In a kubelet's words."""
    if registered.version != VERSION:
        raise UserError(
            f'requested API version "{registered.version}" is not supported by kubelet.'
            f" Supported version is {VERSION}"
        )
    domain = registered.resource.partition("/")[0]
    is_native = domain == "kubernetes.io" or domain.endswith(".kubernetes.io")
    if not _RESOURCE.fullmatch(registered.resource) or is_native:
        raise UserError(f'the ResourceName "{registered.resource}" is invalid')
    if not _SOCKET.fullmatch(registered.socket):
        raise UserError(
            f"{registered.socket!r} is no name of a socket in the folder of device plugins"
        )
