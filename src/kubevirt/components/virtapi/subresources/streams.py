"""Consoles and screens: joined to the node that has them.

The node is asked first: what it refuses is refused as any other call, before there is a websocket.
"""

from collections.abc import Callable

from aiohttp import web

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.components.virtapi.parts import Parts
from kubevirt.components.virtapi.path import Asked
from kubevirt.components.virtapi.subresources import joining, objects
from kubevirt.components.virtapi.tunnels import Kind
from kubevirt.virt.commands import guest

Check = Callable[[VirtualMachineInstance], None]


class Streams:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def console(self, request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
        return await self._joined(request, asked, "console", guest.has_console)

    async def screen(self, request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
        return await self._joined(request, asked, "vnc", guest.has_screen)

    async def _joined(
        self, request: web.BaseRequest, asked: Asked, kind: Kind, check: Check
    ) -> web.StreamResponse:
        joining.is_wanted(request)
        parts = self._parts
        vmi = await objects.instance(parts.client, asked)
        check(vmi)
        query = {key: request.query[key] for key in ("preserveSession",) if key in request.query}
        now = parts.clock.now().timestamp()
        with parts.tunnels.counted(kind, asked.namespace, asked.name, now):
            async with parts.handlers.stream(vmi, kind, query=query) as node:
                client = await joining.accepted(request)
                await joining.join(request, client, node, parts.clock)
        return client
