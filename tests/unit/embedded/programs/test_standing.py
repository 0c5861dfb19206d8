"""What the KubeVirt object says of its programs."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from kubevirt.api.resource import Resource
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Unreachable
from kubevirt.base.tasks import background
from kubevirt.embedded.programs.standing import Standing
from kubevirt.kube.patches import Patch

pytestmark = pytest.mark.virtual_time


class Told:
    """Two programs, and a server that takes down what is written of them."""

    def __init__(self, clock: Clock) -> None:
        self.writes = 0
        self.is_away = False
        self.status: dict[str, Any] = {}
        self.api = SimpleNamespace(name="virt-api", is_at_work=False, trouble="", pid=0)
        self.handler = SimpleNamespace(
            name="virt-handler of node01", is_at_work=True, trouble="", pid=0
        )
        self._clock = clock
        self._news = asyncio.Event()
        programs: Any = (self.api, self.handler)
        self.standing = Standing(self, programs, self._news, clock)

    async def get(self, resource: Resource[Any], name: str, namespace: str | None = None) -> Any:
        if self.is_away:
            raise Unreachable("it is away")
        return {"metadata": {"name": name, "generation": 1}, "status": self.status}

    async def patch_status(
        self, resource: Resource[Any], name: str, patch: Patch, namespace: str | None = None
    ) -> Any:
        assert isinstance(patch.body, dict)
        self.status = {**self.status, **patch.body["status"]}
        self.writes += 1

    async def news(self) -> None:
        self._news.set()
        await self._clock.sleep(1)

    @property
    def conditions(self) -> dict[str, str]:
        return {each["type"]: each["status"] for each in self.status["conditions"]}

    def condition(self, type_: str) -> dict[str, str]:
        found: dict[str, str] = next(
            each for each in self.status["conditions"] if each["type"] == type_
        )
        return found


@pytest.fixture
def told(clock: Clock) -> Told:
    return Told(clock)


async def test_it_is_deployed_when_all_of_them_are_at_work(told: Told) -> None:
    async with background(told.standing.run()):
        await told.news()
        assert told.status["phase"] == "Deploying"
        assert told.condition("Available")["message"] == "Not ready: virt-api."
        assert told.conditions["Progressing"] == "True"
        told.api.is_at_work = True
        await told.news()
    assert told.status["phase"] == "Deployed"
    assert told.conditions == {
        "Available": "True",
        "Progressing": "False",
        "Degraded": "False",
        "Created": "True",
    }


async def test_what_failed_is_named_with_its_reason(told: Told) -> None:
    told.api.trouble = "the line is cut"
    async with background(told.standing.run()):
        await told.news()
    assert told.conditions["Degraded"] == "True"
    assert told.condition("Degraded")["message"] == "virt-api: the line is cut"
    assert told.conditions["Available"] == "False"


async def test_nothing_is_written_when_nothing_changed(told: Told) -> None:
    told.api.is_at_work = True
    async with background(told.standing.run()):
        await told.news()
        since = told.condition("Available")["lastTransitionTime"]
        for _ in range(3):
            await told.news()
    assert told.writes == 1
    assert told.condition("Available")["lastTransitionTime"] == since


async def test_it_is_written_as_soon_as_the_server_is_there_again(told: Told, clock: Clock) -> None:
    told.api.is_at_work = True
    told.is_away = True
    async with background(told.standing.run()):
        await told.news()
        assert told.writes == 0
        told.is_away = False
        await clock.sleep(10)
    assert told.writes == 1


async def test_processes_of_their_own_are_named_with_their_numbers(told: Told) -> None:
    told.api.is_at_work, told.api.pid, told.handler.pid = True, 11, 12
    async with background(told.standing.run()):
        await told.news()
    assert told.condition("Available")["message"] == (
        "All components are ready: virt-api is process 11, virt-handler of node01 is process 12."
    )
