"""Front proxies: how others know the server, and how the server knows others."""

from pathlib import Path
from typing import Any, Protocol

import aiohttp
import msgspec
import pytest
from tests.contract.aggregation.conftest import AUTHENTICATION, LIMIT_S, Registry
from tests.contract.aggregation.door import Door, context
from tests.contract.conftest import Server

from clusterup import waiting

WHO_AM_I = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
SELF = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
HEADERS = {
    "requestheader-allowed-names": ["front-proxy-client"],
    "requestheader-extra-headers-prefix": ["X-Remote-Extra-"],
    "requestheader-group-headers": ["X-Remote-Group"],
    "requestheader-username-headers": ["X-Remote-User"],
}


class OnDisk(Server, Protocol):
    folder: Path


async def test_how_the_server_is_known_is_published(registry: Registry) -> None:
    data = (await registry.get(AUTHENTICATION))["data"]
    assert {name: msgspec.json.decode(data[name]) for name in HEADERS} == HEADERS
    for name in ("client-ca-file", "requestheader-client-ca-file"):
        assert data[name].startswith("-----BEGIN CERTIFICATE-----\n")


async def test_what_is_published_is_put_right(registry: Registry) -> None:
    before = (await registry.get(AUTHENTICATION))["data"]
    await registry.client.raw("DELETE", AUTHENTICATION)

    async def is_back() -> bool:
        try:
            return bool((await registry.get(AUTHENTICATION))["data"] == before)
        except Exception:  # noqa: BLE001  # not yet
            return False

    await waiting.until(is_back, limit_s=2 * LIMIT_S, what="it is published again")


@pytest.fixture
def proxy(server: OnDisk, server_name: str) -> dict[str, Path]:
    """The certificate of a proxy that the server believes."""
    folder = server.folder / "pki" if server_name == "kubernetes" else server.folder
    return {
        "certificate": folder / "front-proxy-client.crt",
        "key": folder / "front-proxy-client.key",
    }


async def test_a_proxy_says_who_somebody_is(
    server: Server, door: Door, proxy: dict[str, Path]
) -> None:
    headers = [
        ("X-Remote-User", "bob"),
        ("X-Remote-Group", "ops"),
        ("X-Remote-Group", "system:authenticated"),
        ("X-Remote-Extra-Example.org%2fwhy", "fun"),
    ]
    found = await who_am_i(server, door, proxy, headers)
    assert found == {
        "username": "bob",
        "groups": ["ops", "system:authenticated"],
        "extra": {"example.org/why": ["fun"]},
    }


async def test_a_proxy_that_names_nobody_is_nobody(
    server: Server, door: Door, proxy: dict[str, Path]
) -> None:
    """Its certificate is no user's."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            f"{door.url}{WHO_AM_I}", json=SELF, ssl=context(server.kubeconfig, **proxy)
        ) as answer,
    ):
        assert answer.status == 401


async def who_am_i(
    server: Server, door: Door, proxy: dict[str, Path], headers: list[tuple[str, str]]
) -> Any:
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            f"{door.url}{WHO_AM_I}",
            json=SELF,
            headers=headers,
            ssl=context(server.kubeconfig, **proxy),
        ) as answer,
    ):
        assert answer.status == 201, await answer.text()
        return (await answer.json())["status"]["userInfo"]
