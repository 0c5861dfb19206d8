"""gRPC, loaded when the first plugin comes: it costs more memory than all the rest of a node's devices."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from kubevirt.rpc.devices import Plugin, Registered

Register = Callable[[Registered], Awaitable[None]]


class Wire(Protocol):
    async def registering(self, path: str, register: Register) -> AbstractAsyncContextManager[None]:
        """Serves on a unix socket while the body runs. What `register` raises is told to the plugin."""
        ...

    def plugin(self, path: str, resource: str) -> Plugin: ...


class LazyGrpc:
    async def registering(self, path: str, register: Register) -> AbstractAsyncContextManager[None]:
        await asyncio.to_thread(_load)  # it takes a while
        from kubevirt.rpc.device_plugin import registering  # noqa: PLC0415

        return registering(path, register)

    def plugin(self, path: str, resource: str) -> Plugin:
        from kubevirt.rpc.device_plugin import GrpcPlugin  # noqa: PLC0415

        return GrpcPlugin(path, resource)


def _load() -> None:
    import kubevirt.rpc.device_plugin  # noqa: F401, PLC0415
