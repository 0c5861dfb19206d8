"""Addresses of services: each of one, chosen by chance, free again."""

from typing import Any

import pytest

from kubevirt.apiserver.kinds import builtin
from kubevirt.apiserver.plugins.service_addresses import (
    RESERVED_S,
    ServiceAddresses,
    ServiceAddressSettings,
)
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry.admission import Review
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.identity import SERVER
from kubevirt.base.virtual_time import VirtualClock

pytestmark = pytest.mark.virtual_time

Object = dict[str, Any]
KIND = next(each for each in builtin.kinds() if each.names.plural == "services")
TINY = ServiceAddressSettings(cidr="10.0.0.0/30")
"""Two addresses."""


class Stored:
    """Services that are there."""

    def __init__(self) -> None:
        self.services: list[Object] = []

    async def all(self, group: str, plural: str) -> list[Object]:
        assert (group, plural) == ("", "services")
        return self.services


def service(name: str, **spec: Any) -> Object:
    metadata = {"namespace": "default", "name": name, "uid": name}
    return {"metadata": metadata, "spec": {"type": "ClusterIP", "ports": [{"port": 80}], **spec}}


def review(*, dry_run: bool = False) -> Review:
    call = Call(verb="create", kind=KIND, version=KIND.versions[0], identity=SERVER)
    return Review(call=call, operation="CREATE", dry_run=dry_run)


@pytest.fixture
def stored() -> Stored:
    return Stored()


@pytest.fixture
def addresses(stored: Stored, virtual_clock: VirtualClock) -> ServiceAddresses:
    return ServiceAddresses(stored, virtual_clock, TINY)


async def given(addresses: ServiceAddresses, object_: Object, **how: bool) -> Any:
    return (await addresses.mutate(object_, review(**how)))["spec"]["clusterIP"]


async def test_two_who_come_at_once_get_two(addresses: ServiceAddresses) -> None:
    found = {await given(addresses, service("a")), await given(addresses, service("b"))}
    assert found == {"10.0.0.1", "10.0.0.2"}
    with pytest.raises(Refusal, match="range is full"):
        await given(addresses, service("c"))


async def test_what_was_not_used_is_free_after_a_while(
    addresses: ServiceAddresses, virtual_clock: VirtualClock
) -> None:
    for name in ("a", "b"):
        await given(addresses, service(name))
    await virtual_clock.sleep(RESERVED_S + 1)
    assert await given(addresses, service("c")) in ("10.0.0.1", "10.0.0.2")


async def test_a_dry_run_takes_nothing(addresses: ServiceAddresses) -> None:
    for name in ("a", "b", "c", "d"):
        await given(addresses, service(name), dry_run=True)


async def test_what_is_stored_is_taken(addresses: ServiceAddresses, stored: Stored) -> None:
    stored.services.append(service("a", clusterIPs=["10.0.0.1"]))
    assert await given(addresses, service("b")) == "10.0.0.2"
    with pytest.raises(Refusal, match="provided IP is already allocated"):
        await given(addresses, service("c", clusterIP="10.0.0.1"))


async def test_a_service_made_again_has_its_address_again(addresses: ServiceAddresses) -> None:
    for _ in range(2):
        assert await given(addresses, service("a", clusterIP="10.0.0.2")) == "10.0.0.2"


async def test_ports_of_nodes_are_given_too(addresses: ServiceAddresses, stored: Stored) -> None:
    made = await addresses.mutate(service("a", type="NodePort"), review())
    [port] = made["spec"]["ports"]
    assert 30000 <= port["nodePort"] < 32768
    stored.services.append(made)
    wanted = service("b", type="NodePort", ports=[{"port": 80, "nodePort": port["nodePort"]}])
    with pytest.raises(Refusal, match="provided port is already allocated"):
        await addresses.mutate(wanted, review())
