"""Calls that a node carries out on its guest."""

from collections.abc import Callable

import msgspec
from aiohttp import web

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.requests import PauseOptions, UnpauseOptions
from kubevirt.components.virtapi import bodies
from kubevirt.components.virtapi.node_handlers import NOTHING, Query
from kubevirt.components.virtapi.parts import Parts
from kubevirt.components.virtapi.path import Asked
from kubevirt.components.virtapi.subresources import objects
from kubevirt.virt.commands import guest
from kubevirt.virt.commands.refusal import Refusal, as_internal

JSON = "application/json"
PNG = "image/png"

Check = Callable[[VirtualMachineInstance], None]


class Guest:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def pause(self, request: web.BaseRequest, asked: Asked) -> web.Response:
        options = await bodies.options(request, PauseOptions, self._parts.clock)
        is_dry = bodies.is_dry(options.dry_run)
        vmi = await objects.instance(self._parts.client, asked)
        guest.can_pause(vmi)
        return await self._put(vmi, "pause", options, is_dry=is_dry)

    async def unpause(self, request: web.BaseRequest, asked: Asked) -> web.Response:
        options = await bodies.options(request, UnpauseOptions, self._parts.clock)
        is_dry = bodies.is_dry(options.dry_run)
        vmi = await objects.instance(self._parts.client, asked)
        guest.can_unpause(vmi, await objects.owner_of(self._parts.client, vmi))
        return await self._put(vmi, "unpause", options, is_dry=is_dry)

    async def reset(self, _: web.BaseRequest, asked: Asked) -> web.Response:
        vmi = await objects.instance(self._parts.client, asked)
        guest.can_reset(vmi)
        return await self._put(vmi, "reset")

    async def soft_reboot(self, _: web.BaseRequest, asked: Asked) -> web.Response:
        vmi = await objects.instance(self._parts.client, asked)
        guest.can_soft_reboot(vmi)
        return await self._put(vmi, "softreboot")

    async def told_by_agent(self, _: web.BaseRequest, asked: Asked) -> web.Response:
        """guestosinfo, userlist, filesystemlist: what the node answers is the answer."""
        return await self._get(asked, guest.can_be_asked, JSON)

    async def screenshot(self, request: web.BaseRequest, asked: Asked) -> web.Response:
        query = {key: request.query[key] for key in ("moveCursor",) if key in request.query}
        return await self._get(asked, guest.has_screen, PNG, query)

    async def _get(
        self, asked: Asked, check: Check, media: str, query: Query = NOTHING
    ) -> web.Response:
        vmi = await objects.instance(self._parts.client, asked)
        try:
            check(vmi)
        except Refusal as refused:
            raise as_internal(refused) from None
        answer = await self._parts.handlers.call(vmi, "GET", asked.call.subresource, query=query)
        # Whatever a node says of it: what it sends is never to be taken for a page.
        headers = {"Content-Type": media, "X-Content-Type-Options": "nosniff"}
        return web.Response(body=answer.body, headers=headers)

    async def _put(
        self,
        vmi: VirtualMachineInstance,
        what: str,
        options: msgspec.Struct | None = None,
        *,
        is_dry: bool = False,
    ) -> web.Response:
        guest.on_node(vmi)
        if not is_dry:
            body = msgspec.json.encode(options) if options is not None else b""
            await self._parts.handlers.call(vmi, "PUT", what, body=body)
        return web.Response(status=200)
