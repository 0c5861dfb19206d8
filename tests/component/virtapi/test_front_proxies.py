"""Who is believed at the port: the front proxy, by its authority and its name."""

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from tests.component.virtapi.machines import Machines

from clusterup.certificates import Authority, Pair, Validity
from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.base.clock import Clock
from kubevirt.components.ground.tls import ClientTls, Files, ServerTls
from kubevirt.components.virtapi.identity import FrontProxy
from kubevirt.components.virtapi.running import Settings, running
from kubevirt.components.virtapi.serving import Doors

ROOT = {"X-Remote-User": "root", "X-Remote-Group": "system:masters"}
NAMED = FrontProxy(names=("front-proxy-client",))
SIGNER = Authority.create("front-proxy-ca")

Open = Callable[[FrontProxy | None], AbstractAsyncContextManager[int]]


@pytest.fixture
def opened(machines: Machines, clock: Clock, tmp_path: Path) -> Open:
    """A virt-api with a port, at which this front proxy is expected."""
    folder = machines.place.folder
    authority = tmp_path / "front-proxy-ca.crt"
    authority.write_bytes(SIGNER.pair.certificate)

    @asynccontextmanager
    async def open_(proxy: FrontProxy | None) -> AsyncIterator[int]:
        tls = ServerTls(Files(folder / "virt-api.crt", folder / "virt-api.key"), clients=authority)
        settings = Settings(
            doors=Doors(tls=tls.context),
            handler_tls=ClientTls(folder / "ca.crt").context,
            proxy=lambda: proxy,
        )
        async with running(
            settings, client=machines.client, clock=clock, configuration=KubeVirtConfiguration
        ) as port:
            yield port

    return open_


async def start(machines: Machines, port: int, shown: Pair | None) -> int:
    context: ssl.SSLContext = machines.place.door_context(shown)
    path = machines.call("virtualmachines", "testvm", "start")
    async with (
        aiohttp.ClientSession() as session,
        session.put(
            f"https://localhost:{port}{path}",
            headers=ROOT,
            ssl=context,
            server_hostname="virt-api.kubevirt.svc",
        ) as answer,
    ):
        return answer.status


@pytest.mark.parametrize(
    ("proxy", "name", "code"),
    [
        (NAMED, "front-proxy-client", 202),
        (NAMED, "somebody", 401),
        (NAMED, "", 401),
        (FrontProxy(names=()), "somebody", 202),
        (FrontProxy(names=()), "", 401),
        (None, "front-proxy-client", 401),
    ],
    ids=["it", "another name", "no certificate", "any name", "any name but none", "not known yet"],
)
async def test_the_front_proxy_alone_says_who_asks(
    machines: Machines, opened: Open, proxy: FrontProxy | None, name: str, code: int
) -> None:
    await machines.machine(runStrategy="Manual")
    async with opened(proxy) as port:
        shown = SIGNER.client(name) if name else None
        assert await start(machines, port, shown) == code


async def test_a_certificate_that_is_too_old_opens_nothing(
    machines: Machines, opened: Open
) -> None:
    old = SIGNER.client("front-proxy-client", (), Validity.expired())
    async with opened(NAMED) as port:
        with pytest.raises(aiohttp.ClientError):
            await start(machines, port, old)
