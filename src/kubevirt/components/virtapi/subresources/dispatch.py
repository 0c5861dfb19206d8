"""Which call is whose. Each is made by somebody who is known and who may, or not at all."""

from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from kubevirt.components.virtapi import identity, permission
from kubevirt.components.virtapi.parts import Parts
from kubevirt.components.virtapi.path import Asked
from kubevirt.components.virtapi.subresources.expansion import Expansion
from kubevirt.components.virtapi.subresources.guest import Guest
from kubevirt.components.virtapi.subresources.ports import Ports
from kubevirt.components.virtapi.subresources.power import Power
from kubevirt.components.virtapi.subresources.streams import Streams
from kubevirt.virt.commands import calls
from kubevirt.virt.commands.refusal import not_allowed, not_built

Answer = Callable[[web.BaseRequest, Asked], Awaitable[web.StreamResponse]]


class Subresources:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        power, guest, ports = Power(parts), Guest(parts), Ports(parts)
        streams, expansion = Streams(parts), Expansion(parts)
        machines: dict[str, Answer] = {
            "start": power.start,
            "stop": power.stop,
            "restart": power.restart,
            "expand-spec": expansion.of_stored,
            calls.PORT_FORWARD: ports.forward,
        }
        instances: dict[str, Answer] = {
            "console": streams.console,
            "vnc": streams.screen,
            "vnc/screenshot": guest.screenshot,
            calls.PORT_FORWARD: ports.forward,
            "pause": guest.pause,
            "unpause": guest.unpause,
            "reset": guest.reset,
            "softreboot": guest.soft_reboot,
            "guestosinfo": guest.told_by_agent,
            "userlist": guest.told_by_agent,
            "filesystemlist": guest.told_by_agent,
        }
        self.answers: Mapping[str, Answer] = {
            calls.EXPAND: expansion.of_given,
            **{f"{calls.MACHINES}/{name}": answer for name, answer in machines.items()},
            **{f"{calls.INSTANCES}/{name}": answer for name, answer in instances.items()},
        }
        """By the name of the call, as roles have it."""

    async def answer(self, request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
        asker = identity.asker(request, self._parts.proxy())
        if request.method != asked.call.method:
            raise not_allowed(request.method)
        await permission.check(self._parts.client, asker, asked)
        if asked.call.missing:
            raise not_built(asked.call.missing)
        return await self.answers[asked.call.name](request, asked)
