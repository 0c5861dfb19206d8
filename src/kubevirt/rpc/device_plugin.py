"""Kubelet's device plugin API over gRPC, both ends: the node serves the registration, and asks plugins."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager

from kubevirt.rpc.calling import Caller
from kubevirt.rpc.devices import (
    HEALTHY,
    Answer,
    Device,
    Folder,
    Node,
    Options,
    Registered,
)
from kubevirt.rpc.errors import NoAnswer
from kubevirt.rpc.messages import device_plugin_pb2 as messages
from kubevirt.rpc.serving import serving

REGISTRATION = messages.DESCRIPTOR.services_by_name["Registration"]
SERVICE = messages.DESCRIPTOR.services_by_name["DevicePlugin"]

LIMIT_S = 30.0
"""As long as a kubelet waits before the start of a container."""


def registering(
    path: str, register: Callable[[Registered], Awaitable[None]]
) -> AbstractAsyncContextManager[None]:
    """Serves on a unix socket. What `register` raises is told to the plugin."""
    return serving(path, {REGISTRATION: _Registration(register)})


class _Registration:
    def __init__(self, register: Callable[[Registered], Awaitable[None]]) -> None:
        self._register = register

    async def register(self, request: messages.RegisterRequest) -> messages.Empty:
        options = request.options
        await self._register(
            Registered(
                version=request.version,
                socket=request.endpoint,
                resource=request.resource_name,
                options=Options(
                    needs_pre_start=options.pre_start_required,
                    has_preferences=options.get_preferred_allocation_available,
                ),
            )
        )
        return messages.Empty()


class GrpcPlugin:
    """A plugin, behind its socket."""

    def __init__(self, path: str, resource: str) -> None:
        self._caller = Caller(path, f"the device plugin of {resource}")

    async def close(self) -> None:
        await self._caller.close()

    async def devices(self) -> AsyncIterator[Sequence[Device]]:
        async for answer in self._caller.stream(
            SERVICE, "ListAndWatch", messages.Empty(), messages.ListAndWatchResponse
        ):
            yield [Device(each.ID, each.health == HEALTHY) for each in answer.devices]

    async def allocate(self, ids: Sequence[str]) -> Answer:
        asked = messages.AllocateRequest(
            container_requests=[messages.ContainerAllocateRequest(devices_ids=ids)]
        )
        found = await self._caller.call(
            SERVICE, "Allocate", asked, messages.AllocateResponse, LIMIT_S
        )
        if len(found.container_responses) != 1:
            raise NoAnswer("a device plugin was asked for one container and answered for others")
        return _answer(found.container_responses[0])

    async def preferred(
        self, available: Sequence[str], included: Sequence[str], count: int
    ) -> Sequence[str]:
        asked = messages.ContainerPreferredAllocationRequest(
            available_deviceIDs=available, must_include_deviceIDs=included, allocation_size=count
        )
        found = await self._caller.call(
            SERVICE,
            "GetPreferredAllocation",
            messages.PreferredAllocationRequest(container_requests=[asked]),
            messages.PreferredAllocationResponse,
            LIMIT_S,
        )
        return [each for one in found.container_responses[:1] for each in one.deviceIDs]

    async def pre_start(self, ids: Sequence[str]) -> None:
        asked = messages.PreStartContainerRequest(devices_ids=ids)
        await self._caller.call(
            SERVICE, "PreStartContainer", asked, messages.PreStartContainerResponse, LIMIT_S
        )


def _answer(found: messages.ContainerAllocateResponse) -> Answer:
    return Answer(
        environment=dict(found.envs),
        annotations=dict(found.annotations),
        folders=[
            Folder(each.container_path, each.host_path, each.read_only) for each in found.mounts
        ],
        nodes=[
            Node(each.container_path, each.host_path, each.permissions) for each in found.devices
        ],
        names=[each.name for each in found.cdi_devices],
    )
