"""Every operation that the server says it has, asked for in many ways: always an answer, never a mistake."""

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest
import yarl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.component.apiserver.conftest import soak
from tests.component.apiserver.judging import TOKEN, check_refusal, whole_server
from tests.component.apiserver.openapi_requests import (
    Operation,
    Request,
    operations,
    request,
    samples,
)

from clusterup import waiting
from clusterup.pytest_plugin import session_loop
from kubevirt.api import crds

EXAMPLES = soak("SOAK_SERVER_REQUESTS", 300)
SWEEPS = soak("SOAK_SERVER_SWEEPS", 1)
ANSWER_S = 15.0
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Target:
    """A server that outlives the examples, each of which is one request to it."""

    def __init__(self, loop: asyncio.Runner, url: str) -> None:
        self._loop = loop
        self._url = url
        self._session = loop.run(self._opened())
        loop.run(self._install())
        self.operations: list[Operation] = loop.run(self._read())
        self.samples = samples()

    async def _opened(self) -> aiohttp.ClientSession:
        limits = aiohttp.ClientTimeout(total=ANSWER_S)
        headers = {"Authorization": f"Bearer {TOKEN}"}
        return aiohttp.ClientSession(headers=headers, timeout=limits)

    async def _install(self) -> None:
        """All kinds of the house, so that schemas large and small are asked for."""
        made = crds.load()
        for crd in made:
            async with self._session.post(self._url + CRDS, json=crd) as answer:
                assert answer.status == 201, await answer.text()

        async def are_served() -> bool:
            async with self._session.get(f"{self._url}/openapi/v3") as answer:
                return "apis/kubevirt.io/v1" in (await answer.json())["paths"]

        await waiting.until(are_served, limit_s=ANSWER_S, what="the kinds are served")

    async def _read(self) -> list[Operation]:
        async with self._session.get(f"{self._url}/openapi/v3") as answer:
            index = (await answer.json())["paths"]
        found: list[Operation] = []
        for each in index.values():
            async with self._session.get(self._url + each["serverRelativeURL"]) as answer:
                found += operations(await answer.json())
        return found

    def close(self) -> None:
        self._loop.run(self._session.close())

    def ask(self, asked: Request) -> tuple[int, str, bytes]:
        return self._loop.run(self._ask(asked))

    async def _ask(self, asked: Request) -> tuple[int, str, bytes]:
        url = yarl.URL(self._url).with_path(asked.path, encoded=False).with_query(asked.query)
        headers = {"Accept": asked.accept, "Content-Type": asked.type}
        async with self._session.request(
            asked.method, url, data=asked.body, headers=headers
        ) as answer:
            if answer.status == 200 and asked.is_watch:
                answer.close()  # it may go on for long
                return 200, "", b""
            return answer.status, answer.content_type, await answer.read()


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder: Path = tmp_path_factory.mktemp("openapi")
    made = whole_server(folder)
    with session_loop() as loop:
        server = loop.run(made.__aenter__())
        try:
            found = Target(loop, server.url)
            try:
                yield found
            finally:
                found.close()
        finally:
            loop.run(made.__aexit__(None, None, None))


def check(target: Target, asked: Request) -> int:
    code, type_, body = target.ask(asked)
    if code >= 400 and asked.method != "HEAD":
        assert type_ == "application/json", (asked, code, body)
        check_refusal(asked.method, asked.path, code, body)
    return code


@pytest.mark.timeout(60 + 60 * SWEEPS)
def test_every_operation_answers(target: Target, caplog: pytest.LogCaptureFixture) -> None:
    chance = random.Random(SWEEPS)
    codes: set[int] = set()
    for _ in range(SWEEPS):
        for operation in target.operations:
            codes.add(check(target, request(operation, chance, target.samples)))
    assert {200, 201, 400, 404, 422} <= codes
    assert not [each for each in caplog.records if each.exc_info], caplog.text


@pytest.mark.timeout(60 + EXAMPLES // 5)
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(chance=st.randoms(use_true_random=False), place=st.integers(0, 10_000))
def test_no_request_is_answered_by_a_mistake(
    target: Target, chance: random.Random, place: int
) -> None:
    operation = target.operations[place % len(target.operations)]
    check(target, request(operation, chance, target.samples))
