"""Whether somebody is there who serves a part of the API: seen, and said in Kubernetes' words."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from tests.contract.aggregation.conftest import (
    API_SERVICES,
    Registry,
    Start,
    bundle,
    external_name,
)
from tests.contract.aggregation.door import Door
from tests.contract.aggregation.extension import DISCOVERY, Extension

from clusterup import ports

MERGE = "application/merge-patch+json"
CLUSTER_IP = {"ports": [{"name": "https", "port": 443, "targetPort": 8443}]}


@pytest.fixture
def group(registry: Registry) -> str:
    return f"toys.{registry.namespace}.example"


async def make_slice(registry: Registry, *, port: str = "https", is_ready: bool = True) -> None:
    slices = f"/apis/discovery.k8s.io/v1/namespaces/{registry.namespace}/endpointslices"
    labels = {"kubernetes.io/service-name": "toys"}
    await registry.client.raw(
        "POST",
        slices,
        {
            "metadata": {"generateName": "toys-", "labels": labels},
            "addressType": "IPv4",
            "ports": [{"name": port, "port": 8443}],
            "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": is_ready}}],
        },
    )


async def test_there_is_no_service(registry: Registry, group: str) -> None:
    name = await registry.register(group, 443)
    assert await registry.until(name, "ServiceNotFound") == {
        "status": "False",
        "reason": "ServiceNotFound",
        "message": f'service/toys in "{registry.namespace}" is not present',
    }


async def test_the_service_has_no_such_port(registry: Registry, group: str) -> None:
    await registry.create_service("toys", CLUSTER_IP)
    name = await registry.register(group, 444)
    found = await registry.until(name, "ServicePortError")
    words = f'service/toys in "{registry.namespace}" is not listening on port 444'
    assert (found["status"], found["message"]) == ("False", words)


async def test_the_service_has_no_endpoints(registry: Registry, group: str) -> None:
    await registry.create_service("toys", CLUSTER_IP)
    name = await registry.register(group, 443)
    found = await registry.until(name, "EndpointsNotFound")
    words = f'cannot find endpointslices for service/toys in "{registry.namespace}"'
    assert (found["status"], found["message"]) == ("False", words)


@pytest.mark.parametrize("wrong", [{"port": "other"}, {"is_ready": False}])
async def test_no_endpoint_is_ready_on_that_port(
    registry: Registry, group: str, wrong: dict[str, Any]
) -> None:
    await registry.create_service("toys", CLUSTER_IP)
    await make_slice(registry, **wrong)
    name = await registry.register(group, 443)
    found = await registry.until(name, "MissingEndpoints")
    words = (
        f'endpointslices for service/toys in "{registry.namespace}" have no addresses with port name '
        '"https"'
    )
    assert (found["status"], found["message"]) == ("False", words)


async def test_what_is_missing_is_seen_when_it_comes(registry: Registry, group: str) -> None:
    name = await registry.register(group, 443)
    await registry.until(name, "ServiceNotFound")
    await registry.create_service("toys", CLUSTER_IP)
    await registry.until(name, "EndpointsNotFound")
    await make_slice(registry, port="other")
    await registry.until(name, "MissingEndpoints")
    await registry.client.raw("DELETE", f"/api/v1/namespaces/{registry.namespace}/services/toys")
    await registry.until(name, "ServiceNotFound")


async def test_nobody_answers(registry: Registry, group: str) -> None:
    await registry.create_service("toys", external_name())
    port = ports.take()
    try:
        name = await registry.register(group, port.number)
        found = await registry.until(name, "FailedDiscoveryCheck")
    finally:
        port.release()
    url = f"https://localhost:{port.number}/apis/{group}/v1"
    assert found["status"] == "False"
    begin = f'failing or missing response from {url}: Get "{url}": dial tcp'
    assert found["message"].startswith(begin)
    assert found["message"].endswith("connect: connection refused")


async def test_somebody_answers_but_not_well(registry: Registry, start: Start) -> None:
    extension = await start()
    extension.is_ill = True
    await registry.create_service("toys", external_name())
    name = await registry.register(extension.group, extension.port)
    url = f"https://localhost:{extension.port}/apis/{extension.group}/v1"
    assert await registry.until(name, "FailedDiscoveryCheck") == {
        "status": "False",
        "reason": "FailedDiscoveryCheck",
        "message": f"failing or missing response from {url}: bad status from {url}: 500",
    }
    extension.is_ill = False
    await registry.until(name, "Passed")


async def _answers_quickly(door: Door, path: str) -> None:
    """Before somebody who hangs is given up, which is after five seconds. Whoever waits for that does so every
    time; a machine that stalls does not.
    """
    for _ in range(10):
        with suppress(TimeoutError):
            async with asyncio.timeout(4), door.get(path, headers={"Accept": DISCOVERY}) as answer:
                assert await answer.read()
                return
    pytest.fail(f"{path} is never answered quickly")


async def test_who_hangs_slows_nobody_down(registry: Registry, start: Start, door: Door) -> None:
    extension = await start()
    extension.hangs = True
    await registry.create_service("toys", external_name())
    name = await registry.register(extension.group, extension.port, caBundle=bundle(extension))
    for path in ("/apis", "/openapi/v3", "/apis/apps/v1", "/api/v1/namespaces"):
        await _answers_quickly(door, path)
    found = await registry.until(name, "FailedDiscoveryCheck")
    url = f"https://localhost:{extension.port}/apis/{extension.group}/v1"
    assert found["message"].startswith(f'failing or missing response from {url}: Get "{url}": ')
    assert "exceeded" in found["message"]
    extension.hangs = False
    await registry.until(name, "Passed")


async def test_one_that_begins_to_hang_is_waited_for_a_little(toys: Extension, door: Door) -> None:
    """What it serves is asked for by everybody who asks for anything."""
    toys.hangs = True
    async with asyncio.timeout(120), door.get(toys.path) as answer:
        assert answer.status == 503
        words = "error trying to reach service: context deadline exceeded"
        assert (await answer.text()).strip() == words


async def test_somebody_is_there(registry: Registry, toys: Extension) -> None:
    assert await registry.condition(f"v1.{toys.group}") == {
        "status": "True",
        "reason": "Passed",
        "message": "all checks passed",
    }


async def test_a_change_of_the_service_is_reason_to_look_again(
    registry: Registry, toys: Extension
) -> None:
    toys.is_ill = True
    path = f"/api/v1/namespaces/{registry.namespace}/services/toys"
    change = {"metadata": {"annotations": {"example.org/touched": "yes"}}}
    await registry.client.raw("PATCH", path, change, content_type=MERGE)
    await registry.until(f"v1.{toys.group}", "FailedDiscoveryCheck")


async def test_nothing_is_written_while_nothing_changes(
    registry: Registry, toys: Extension
) -> None:
    path = f"{API_SERVICES}/v1.{toys.group}"
    before = await registry.get(path)
    change = {"metadata": {"annotations": {"example.org/touched": "yes"}}}
    service = f"/api/v1/namespaces/{registry.namespace}/services/toys"
    looked = len(toys.probes)
    await registry.client.raw("PATCH", service, change, content_type=MERGE)
    await toys.probed(looked + 1)
    assert await registry.get(path) == before


async def test_what_comes_home_is_local(registry: Registry, toys: Extension) -> None:
    path = f"{API_SERVICES}/v1.{toys.group}"
    change = {"spec": {"service": None, "caBundle": None}}
    await registry.client.raw("PATCH", path, change, content_type=MERGE)
    assert await registry.until(f"v1.{toys.group}", "Local") == {
        "status": "True",
        "reason": "Local",
        "message": "Local APIServices are always available",
    }


async def test_who_goes_is_forgotten(registry: Registry, toys: Extension, start: Start) -> None:
    """And may come again, as somebody else."""
    path = f"{API_SERVICES}/v1.{toys.group}"
    await registry.client.raw("DELETE", path)
    name = await registry.register(toys.group, toys.port, "nobody")
    await registry.until(name, "ServiceNotFound")
    await registry.client.raw("DELETE", path)
    await registry.register(toys.group, toys.port, caBundle=bundle(toys))
    await registry.until(name, "Passed")
