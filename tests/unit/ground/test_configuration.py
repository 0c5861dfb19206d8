"""The settings of the KubeVirt object, as components see them."""

import asyncio
from typing import Any

import pytest

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.scheme import KUBEVIRTS
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.components.ground import verbosity
from kubevirt.components.ground.configuration import following
from kubevirt.kube.key import Key
from kubevirt.testing.faulty_server import FaultyServer

pytestmark = pytest.mark.virtual_time

KEY = Key("kubevirt", "kubevirt")


@pytest.fixture
def server(clock: Clock) -> FaultyServer:
    return FaultyServer(clock)


def installed(name: str = "kubevirt", **configuration: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "kubevirt"}
    return {"metadata": metadata, "spec": {"configuration": configuration}}


async def test_without_a_kubevirt_object_the_defaults_hold(
    server: FaultyServer, clock: Clock
) -> None:
    async with following(server, clock) as configuration:
        assert configuration() == KubeVirtConfiguration()


async def test_what_the_object_says_is_known_before_anybody_acts(
    server: FaultyServer, clock: Clock
) -> None:
    server.create(KUBEVIRTS, installed(cpuModel="Nehalem"))
    async with following(server, clock) as configuration:
        assert configuration().cpu_model == "Nehalem"


async def test_a_change_acts_without_a_restart_and_is_told_once(
    server: FaultyServer, clock: Clock
) -> None:
    server.create(KUBEVIRTS, installed(cpuModel="Nehalem"))
    async with following(server, clock) as configuration:
        heard: list[str | None] = []
        configuration.add_listener(lambda now: heard.append(now.cpu_model))
        server.update(KUBEVIRTS, KEY, {"spec": {"configuration": {"cpuModel": "Skylake"}}})
        await clock.sleep(1)
        assert configuration().cpu_model == "Skylake"
        server.update(KUBEVIRTS, KEY, {"status": {"phase": "Deployed"}})
        await clock.sleep(1)
        server.delete(KUBEVIRTS, KEY)
        await clock.sleep(1)
        assert configuration() == KubeVirtConfiguration()
        assert heard == ["Nehalem", "Skylake", None]


async def test_an_object_that_cannot_be_read_changes_nothing(
    server: FaultyServer, clock: Clock
) -> None:
    server.create(KUBEVIRTS, installed(cpuModel="Nehalem"))
    async with following(server, clock) as configuration:
        server.update(KUBEVIRTS, KEY, {"spec": {"configuration": {"cpuModel": ["no", "text"]}}})
        await clock.sleep(1)
        assert configuration().cpu_model == "Nehalem"


async def test_of_two_objects_the_elder_counts(server: FaultyServer, clock: Clock) -> None:
    server.create(KUBEVIRTS, installed(cpuModel="Nehalem"))
    async with following(server, clock) as configuration:
        await clock.sleep(5)
        server.create(KUBEVIRTS, installed("another", cpuModel="Skylake"))
        await clock.sleep(1)
        assert configuration().cpu_model == "Nehalem"
        server.delete(KUBEVIRTS, KEY)
        await clock.sleep(1)
        assert configuration().cpu_model == "Skylake"


async def test_nobody_acts_on_settings_that_a_silent_server_has_not_told(
    server: FaultyServer, clock: Clock
) -> None:
    server.delay_s = 3600
    began = asyncio.get_running_loop().time()
    with pytest.raises(Retry, match="could not be read within 60 s"):
        async with following(server, clock):
            pytest.fail("it began")
    assert asyncio.get_running_loop().time() - began < 120


def levels(**spoken: Any) -> KubeVirtConfiguration:
    from msgspec import convert

    return convert({"developerConfiguration": {"logVerbosity": spoken}}, KubeVirtConfiguration)


def test_each_program_logs_as_much_as_it_is_told_and_else_as_its_flag_says() -> None:
    told = levels(virtController=5, virtAPI=0, virtHandler=3, nodeVerbosity={"node02": 8})
    assert verbosity.of("virt-controller", told, 2) == 5
    assert verbosity.of("virt-api", told, 2) == 0
    assert verbosity.of("virt-operator", told, 4) == 4
    assert verbosity.of("virt-handler", told, 2, node="node01") == 3
    assert verbosity.of("virt-handler", told, 2, node="node02") == 8
    assert verbosity.of("virt-api", told, 2, node="node02") == 0
    assert verbosity.of("virt-api", KubeVirtConfiguration(), 6) == 6
