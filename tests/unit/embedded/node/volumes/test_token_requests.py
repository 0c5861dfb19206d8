"""Tokens are asked for once, and again when they are due."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, cast

import pytest
from tests.unit.embedded.node.objects import a_pod

from kubevirt.base.clock import Clock
from kubevirt.base.errors import Unreachable
from kubevirt.embedded.node.volumes.contents import NotThere
from kubevirt.embedded.node.volumes.token_requests import TokenRequests
from kubevirt.kube.client import Client

pytestmark = pytest.mark.virtual_time

SOURCES = [{"serviceAccountToken": {"path": "token", "audience": "vault"}}]
POD = a_pod(volumes=[{"name": "v", "projected": {"sources": SOURCES}}], serviceAccountName="robot")


class Server:
    """Answers token requests, as long as it can."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.is_away = False

    async def raw(self, method: str, path: str, body: Mapping[str, Any]) -> bytes:
        if self.is_away:
            raise Unreachable("nobody there")
        self.asked.append((path, body["spec"]))
        end = self._clock.now() + timedelta(seconds=body["spec"]["expirationSeconds"])
        status = {"token": f"t{len(self.asked)}", "expirationTimestamp": end.isoformat()}
        return json.dumps({"status": status}).encode()


@pytest.fixture
def server(clock: Clock) -> Server:
    return Server(clock)


@pytest.fixture
def tokens(server: Server, clock: Clock) -> TokenRequests:
    return TokenRequests(cast("Client", server), clock)


async def test_a_token_is_for_the_pod_and_its_account(
    tokens: TokenRequests, server: Server
) -> None:
    assert await tokens.current(POD) == {("v", "token"): "t1"}
    ((path, spec),) = server.asked
    assert path == "/api/v1/namespaces/home/serviceaccounts/robot/token"
    assert spec == {
        "audiences": ["vault"],
        "expirationSeconds": 3600,
        "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": "u1"},
    }


async def test_a_token_stays_until_four_fifths_of_its_life_are_over(
    tokens: TokenRequests, server: Server, clock: Clock
) -> None:
    await tokens.current(POD)
    assert tokens.next_s("u1") == pytest.approx(2880)

    await clock.sleep(2879)
    assert await tokens.current(POD) == {("v", "token"): "t1"}
    await clock.sleep(2)
    assert tokens.next_s("u1") == 0
    assert await tokens.current(POD) == {("v", "token"): "t2"}
    assert tokens.next_s("u1") == pytest.approx(2880)


async def test_a_token_that_is_still_good_is_kept_while_the_server_is_away(
    tokens: TokenRequests, server: Server, clock: Clock
) -> None:
    await tokens.current(POD)
    server.is_away = True

    await clock.sleep(3000)
    assert await tokens.current(POD) == {("v", "token"): "t1"}
    assert tokens.next_s("u1") == pytest.approx(30)
    await clock.sleep(700)
    with pytest.raises(NotThere, match="serviceaccount robot: nobody there"):
        await tokens.current(POD)
    server.is_away = False
    assert await tokens.current(POD) == {("v", "token"): "t2"}


async def test_a_pod_without_tokens_has_nothing_due(tokens: TokenRequests) -> None:
    assert await tokens.current(a_pod()) == {}
    assert tokens.next_s("u1") is None
    await tokens.current(POD)
    tokens.forget("u1")
    assert tokens.next_s("u1") is None
