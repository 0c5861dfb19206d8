"""The other end of kubelet's device plugin API: a plugin that offers one kind of device to its node.

    async with offering(path, offer):
        await register(kubelet_socket, Registered(...))

Devices here are places: as many guests as there are places may open the same file at once.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager

import msgspec

from kubevirt.rpc.calling import Caller
from kubevirt.rpc.device_plugin import REGISTRATION, SERVICE
from kubevirt.rpc.devices import HEALTHY, Device, Node, Registered
from kubevirt.rpc.messages import device_plugin_pb2 as messages
from kubevirt.rpc.serving import serving

UNHEALTHY = "Unhealthy"
REGISTER_S = 10.0


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    devices: Callable[[], AsyncIterator[Sequence[Device]]]
    """All of them, now and each time that one changes; for ever."""
    nodes: Sequence[Node]
    """What a container gets that was given any of them."""


def offering(path: str, offer: Offer) -> AbstractAsyncContextManager[None]:
    """Serves on a unix socket."""
    return serving(path, {SERVICE: _Plugin(offer)})


async def register(path: str, registered: Registered) -> None:
    """Tells the node, at its own socket, that there is a plugin. Raises `NoAnswer` if it will not have it."""
    request = messages.RegisterRequest(
        version=registered.version,
        endpoint=registered.socket,
        resource_name=registered.resource,
        options=messages.DevicePluginOptions(),
    )
    async with Caller(path, "the node's kubelet") as caller:
        await caller.call(REGISTRATION, "Register", request, messages.Empty, REGISTER_S)


class _Plugin:
    def __init__(self, offer: Offer) -> None:
        self._offer = offer

    async def get_device_plugin_options(self, _: messages.Empty) -> messages.DevicePluginOptions:
        return messages.DevicePluginOptions()

    async def list_and_watch(
        self, _: messages.Empty
    ) -> AsyncIterator[messages.ListAndWatchResponse]:
        async for devices in self._offer.devices():
            yield messages.ListAndWatchResponse(
                devices=[
                    messages.Device(ID=each.id, health=HEALTHY if each.is_healthy else UNHEALTHY)
                    for each in devices
                ]
            )

    async def allocate(self, request: messages.AllocateRequest) -> messages.AllocateResponse:
        nodes = [
            messages.DeviceSpec(
                container_path=each.target, host_path=each.source, permissions=each.permissions
            )
            for each in self._offer.nodes
        ]
        return messages.AllocateResponse(
            container_responses=[
                messages.ContainerAllocateResponse(devices=nodes)
                for _ in request.container_requests
            ]
        )
