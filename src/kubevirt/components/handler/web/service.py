"""The WebService of a node: virt-api's calls about guests that run here, on KubeVirt's paths.

Only virt-api may call: TLS asks for a certificate of the installation, and `only_known` for its name. Who the
user is and what they may do was decided before the call came here.
"""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final, cast

from aiohttp import web

from kubevirt.base.clock import Clock
from kubevirt.base.entrance import Entrance
from kubevirt.base.errors import KubevirtError, UserError
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import first_of
from kubevirt.components.handler.instances.events import Events
from kubevirt.components.handler.settings import HandlerSettings
from kubevirt.components.handler.web.errors import Denied, code_of
from kubevirt.components.handler.web.guests import AskedGuest, Guests
from kubevirt.components.handler.web.pointer import nudge
from kubevirt.components.handler.web.streams import MESSAGE_LIMIT, Lines, carry, line_to
from kubevirt.rpc.cmd import Launcher
from kubevirt.virt.commands.calls import PROTOCOL
from kubevirt.virt.happening import Happening
from kubevirt.virt.instance import happenings

log = get_logger(__name__)

BASE: Final = "/v1/namespaces/{namespace}/virtualmachineinstances/{name}"
CONSOLE, SCREEN = "virt-serial0", "virt-vnc"
BODY_LIMIT: Final = 64 << 10
JSON_LIMIT: Final = 4 << 20
PICTURE_LIMIT: Final = 64 << 20
CLOSE_S: Final = 5.0
"""For a caller to say goodbye."""
WAKE_S: Final = 1.0
"""For a guest to draw its screen anew when its mouse has moved."""
LOOK_S: Final = 0.1
TAKEN: Final = "Active VNC connection. Request denied."

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Press = Callable[[Launcher, bytes], Awaitable[None]]
Question = Callable[[Launcher], Awaitable[str]]

BUTTONS: Final[dict[str, tuple[Press, Happening]]] = {
    "pause": (Launcher.pause, happenings.PAUSED),
    "unpause": (Launcher.unpause, happenings.UNPAUSED),
    "reset": (Launcher.reset, happenings.RESET),
    "softreboot": (Launcher.soft_reboot, happenings.SOFT_REBOOTED),
}
"""What is done, and what is told of it when it has been."""
QUESTIONS: Final[dict[str, Question]] = {
    "guestosinfo": Launcher.guest_info,
    "userlist": Launcher.users,
    "filesystemlist": Launcher.filesystems,
}


class WebService:
    def __init__(
        self, guests: Guests, events: Events, settings: HandlerSettings, clock: Clock
    ) -> None:
        self._guests = guests
        self._events = events
        self._settings = settings
        self._clock = clock
        self._lines = Lines(clock)

    def application(self) -> web.Application:
        app = web.Application(client_max_size=BODY_LIMIT, middlewares=[_telling, self._only_known])
        app.router.add_get("/healthz", _healthy)
        app.router.add_get(f"{BASE}/console", self._console)
        app.router.add_get(f"{BASE}/vnc", self._screen)
        app.router.add_get(f"{BASE}/vnc/screenshot", self._screenshot)
        for name, (press, happening) in BUTTONS.items():
            app.router.add_put(f"{BASE}/{name}", self._button(press, happening))
        for name, ask in QUESTIONS.items():
            app.router.add_get(f"{BASE}/{name}", self._question(ask))
        return app

    def _asked(self, request: web.Request) -> AskedGuest:
        return self._guests.get(request.match_info["namespace"], request.match_info["name"])

    def _button(self, press: Press, happening: Happening) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            guest = self._asked(request)
            await press(guest.launcher, guest.encoded)
            self._events.tell(guest.vmi, happening)
            return web.Response(status=202)

        return handle

    def _question(self, ask: Question) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            answer = await ask(self._asked(request).launcher)
            if len(answer) > JSON_LIMIT:
                raise Denied(500, "the guest's agent answered too much")
            return web.Response(text=answer, content_type="application/json")

        return handle

    async def _screenshot(self, request: web.Request) -> web.StreamResponse:
        guest = self._asked(request)
        wakes = request.query.get("moveCursor", "").lower() == "true"
        picture = await (self._woken(guest) if wakes else _picture(guest))
        return web.Response(body=picture, content_type="image/png")

    async def _woken(self, guest: AskedGuest) -> bytes:
        """The first that is another than before the mouse was moved. A guest that was awake may draw none."""
        before = await _picture(guest)
        with _lines_of(guest) as folder:
            async with line_to(folder, SCREEN, self._clock) as line:
                await nudge(line, self._clock)
        ends = self._clock.monotonic() + WAKE_S
        while (found := await _picture(guest)) == before and self._clock.monotonic() < ends:
            await self._clock.sleep(LOOK_S)
        return found

    async def _console(self, request: web.Request) -> web.StreamResponse:
        return await self._line(request, CONSOLE)

    async def _screen(self, request: web.Request) -> web.StreamResponse:
        guest = self._asked(request)
        keeps = request.query.get("preserveSession") == "true"
        if keeps and self._lines.is_taken(guest.uid, SCREEN):
            raise Denied(503, TAKEN)
        return await self._line(request, SCREEN)

    async def _line(self, request: web.Request, name: str) -> web.StreamResponse:
        guest = self._asked(request)
        caller = web.WebSocketResponse(
            protocols=(PROTOCOL,), max_msg_size=MESSAGE_LIMIT, timeout=CLOSE_S
        )
        async with self._lines.taken(guest.uid, name) as is_wanted:
            with _lines_of(guest) as folder:
                async with line_to(folder, name, self._clock) as line:
                    await caller.prepare(request)
                    await first_of(carry(line, caller), _until(is_wanted.wait()))
        # The line is free by now: a caller who does not even say goodbye holds nobody up.
        await caller.close()
        return caller

    @web.middleware
    async def _only_known(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        wanted = self._settings.clients
        if wanted and not wanted & _names(request):
            raise Denied(403, "this certificate may not ask a node about its guests")
        return await handler(request)


async def _picture(guest: AskedGuest) -> bytes:
    picture = await guest.launcher.screenshot(guest.encoded)
    if len(picture.data) > PICTURE_LIMIT or picture.mime != "image/png":
        raise Denied(500, "the launcher sent no picture")
    return picture.data


@contextmanager
def _lines_of(guest: AskedGuest) -> Iterator[Root]:
    """The folder of the guest's own sockets."""
    try:
        folder = guest.folders.private.root(guest.uid)
    except (OSError, UserError):
        raise Denied(503, "the guest has no lines yet") from None
    with folder:
        yield folder


async def _until(happened: Awaitable[object]) -> None:
    await happened


def _names(request: web.Request) -> frozenset[str]:
    """Common names of the certificate that the caller showed."""
    transport = request.transport
    certificate = transport.get_extra_info("peercert") if transport else None
    subject = (certificate or {}).get("subject", ())
    return frozenset(value for parts in subject for field, value in parts if field == "commonName")


@web.middleware
async def _telling(request: web.Request, handler: Handler) -> web.StreamResponse:
    """What went wrong, in the words of whoever knows."""
    try:
        return await handler(request)
    except KubevirtError as error:
        return web.Response(status=code_of(error), text=str(error))


async def _healthy(_: web.Request) -> web.StreamResponse:
    return web.Response(text="ok")


@asynccontextmanager
async def serving(
    service: WebService, settings: HandlerSettings, tls: ssl.SSLContext, clock: Clock
) -> AsyncIterator[int]:
    """Serves while the body runs; the port."""
    runner = web.AppRunner(
        service.application(), access_log=None, handle_signals=False, shutdown_timeout=1.0
    )
    await runner.setup()
    set_up = cast("web.Server", runner.server)  # there is one now
    entrance = Entrance(set_up, clock)
    try:
        port = await entrance.open(settings.address, settings.port, tls=tls)
        log.info("guests of this node can be asked for", port=port)
        yield port
    finally:
        await entrance.close(runner.cleanup)
