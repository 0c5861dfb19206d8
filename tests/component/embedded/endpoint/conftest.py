"""A node's endpoint with certificates of its own, and people who come to it."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import pytest
from tests.component.embedded.endpoint.pods import Pods

from kubevirt.apiserver.auth.authority import Authority, Pair, Wanted
from kubevirt.base.clock import SystemClock
from kubevirt.embedded.node.endpoint.endpoint import EndpointSettings, serving
from kubevirt.embedded.runtime.keeper import Keeper

Visitors = Callable[..., Awaitable[aiohttp.ClientSession]]
HOST = "127.0.0.1"


def written(pair: Pair, folder: Path, name: str) -> tuple[Path, Path]:
    certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
    certificate.write_bytes(pair.certificate)
    key.write_bytes(pair.key)
    return certificate, key


@pytest.fixture
def authority() -> Authority:
    return Authority.create("kubernetes", datetime.now(UTC))


@pytest.fixture
def pods() -> Pods:
    return Pods()


@pytest.fixture
def pki(tmp_path: Path) -> Path:
    folder = tmp_path / "pki"
    folder.mkdir()
    return folder


@pytest.fixture
async def endpoint(
    authority: Authority, pki: Path, pods: Pods, keeper: Keeper
) -> AsyncIterator[str]:
    """Its URL."""
    pair = authority.issue(Wanted.node("node01", [HOST]), datetime.now(UTC))
    certificate, key = written(pair, pki, "node")
    settings = EndpointSettings(
        host=HOST, certificate=certificate, key=key, authority=authority.pair.certificate
    )
    async with serving(settings, pods, keeper, SystemClock()) as port:
        yield f"https://{HOST}:{port}"


@pytest.fixture
async def visitor(endpoint: str, authority: Authority, pki: Path) -> AsyncIterator[Visitors]:
    """People with certificates, or without one if they have no name."""
    async with AsyncExitStack() as stack:

        async def made(
            user: str = "kube-apiserver-kubelet-client",
            groups: Sequence[str] = (),
            signed_by: Authority = authority,
        ) -> aiohttp.ClientSession:
            context = ssl.create_default_context(cadata=authority.pair.certificate.decode())
            if user:
                pair = signed_by.issue(Wanted.client(user, groups), datetime.now(UTC))
                context.load_cert_chain(*written(pair, pki, user.replace(":", "-")))
            connector = aiohttp.TCPConnector(ssl=context)
            return await stack.enter_async_context(
                aiohttp.ClientSession(endpoint, connector=connector)
            )

        yield made


@pytest.fixture
async def server(visitor: Visitors) -> aiohttp.ClientSession:
    """The API server, as the node knows it."""
    return await visitor()
