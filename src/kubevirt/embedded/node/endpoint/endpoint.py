"""The port of a node.

    async with serving(settings, finder, keeper, clock) as port: ...

The node shows the certificate that the home's authority has signed for it, and reads it again when somebody
has renewed it.
"""

import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.apiserver.auth.tls import server_context
from kubevirt.apiserver.http.limits import Limits
from kubevirt.apiserver.http.serving import listening
from kubevirt.base.clock import Clock
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import background
from kubevirt.embedded.node.endpoint.access import Access
from kubevirt.embedded.node.endpoint.finding import Finder
from kubevirt.embedded.node.endpoint.front import Front
from kubevirt.embedded.runtime.keeper import Keeper

log = get_logger(__name__)

LOOK_EVERY_S: Final = 3600.0
_LIMITS: Final = Limits(
    # The API server has fewer to one node, and pods that come without being asked are others.
    connections=10_000,
    connections_of_peer=1500,
    # A person may leave a terminal or a pager alone for long; a kubelet's.
    stalled_s=4 * 3600.0,
)


class EndpointSettings(msgspec.Struct, frozen=True, kw_only=True):
    host: str
    port: int = 0
    """0 lets the system choose."""
    certificate: Path
    key: Path
    authority: bytes
    """Who signs for clients, PEM."""


@asynccontextmanager
async def serving(
    settings: EndpointSettings,
    finder: Finder,
    keeper: Keeper,
    clock: Clock,
    *,
    elsewhere: socket.socket | None = None,
) -> AsyncIterator[int]:
    """Gives the port. `elsewhere` listens already, in the network namespace of a node that is not the
    machine itself; then the port is that one's.
    """
    files = (settings.certificate, settings.key)
    context = server_context(*files, (settings.authority,))
    front = Front(finder, keeper, Access(settings.authority, clock), clock)
    try:
        async with (
            background(_renewed(context, files, clock)),
            listening(front, settings.host, settings.port, clock, context, _LIMITS) as found,
        ):
            if elsewhere is None:
                yield found.port
            else:
                port = elsewhere.getsockname()[1]
                async with found.also_on(elsewhere):
                    yield port
    finally:
        await front.callers.hang_up()


async def _renewed(context: ssl.SSLContext, files: tuple[Path, Path], clock: Clock) -> None:
    """Connections that are open keep the certificate they began with, new ones get the new one."""
    known = files[0].read_bytes()
    while True:
        await clock.sleep(LOOK_EVERY_S)
        try:
            found = files[0].read_bytes()
            if found != known:
                context.load_cert_chain(*files)
                known = found
        except (OSError, ssl.SSLError) as error:  # whoever renews it is at it, or could not
            log.warning("the node's certificate could not be read again", error=error)
