"""Services and pods without nodes: the test says how the pods are, and reads who is said to be behind."""

from collections.abc import Callable
from typing import Any

from kubevirt.api.resource import Resource
from kubevirt.api.scheme import ENDPOINT_SLICES, PODS, SERVICES
from kubevirt.base.clock import SystemClock
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.patches import MergePatch

Object = dict[str, Any]
ENDPOINTS: Resource[Object] = Resource("", "v1", "endpoints", "Endpoints", True, dict[str, Any])
SERVICE_NAME = "kubernetes.io/service-name"
NODE = "nowhere"
LIMIT_S = 120.0


class Backing:
    def __init__(self, client: Client, namespace: str) -> None:
        self.client = client
        self.namespace = namespace

    async def service(self, name: str, *ports: Object, **spec: Any) -> Object:
        body = {
            "metadata": {"name": name, "labels": {"of": "test"}},
            "spec": {"selector": {"app": name}, "ports": list(ports), **spec},
        }
        return await self.client.create(SERVICES.raw, body, self.namespace)

    async def pod(
        self, name: str, app: str, ip: str = "", *, ready: bool = True, **spec: Any
    ) -> Object:
        ports = spec.pop("ports", [])
        body = {
            "metadata": {"name": name, "labels": {"app": app}},
            "spec": {
                "containers": [{"name": "main", "image": "none", "ports": ports}],
                "nodeName": NODE,
                "terminationGracePeriodSeconds": 600,
                **spec,
            },
        }
        made = await self.client.create(PODS.raw, body, self.namespace)
        if ip:
            await self.status(name, ip, ready=ready)
        return made

    async def status(self, name: str, ip: str, *, ready: bool, phase: str = "Running") -> None:
        status = {
            "phase": phase,
            "podIP": ip,
            "podIPs": [{"ip": ip}],
            "conditions": [{"type": "Ready", "status": str(ready)}],
        }
        await self.client.patch_status(
            PODS.raw, name, MergePatch({"status": status}), self.namespace
        )

    async def slices(self, service: str) -> list[Object]:
        found = await self.client.list(
            ENDPOINT_SLICES.raw, self.namespace, label_selector=f"{SERVICE_NAME}={service}"
        )
        return found.items

    async def endpoints(self, service: str) -> Object | None:
        try:
            return await self.client.get(ENDPOINTS, service, self.namespace)
        except NotFound:
            return None

    async def until_slices(
        self, service: str, holds: Callable[[list[Object]], bool]
    ) -> list[Object]:
        found: list[Object] = []
        clock = SystemClock()
        try:
            async with clock.timeout(LIMIT_S):
                while not holds(found := await self.slices(service)):
                    await clock.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"slices of {service} are {found}") from None
        return found

    async def until_endpoints(
        self, service: str, holds: Callable[[Object | None], bool]
    ) -> Object | None:
        found: Object | None = None
        clock = SystemClock()
        try:
            async with clock.timeout(LIMIT_S):
                while not holds(found := await self.endpoints(service)):
                    await clock.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"Endpoints of {service} are {found}") from None
        return found


def conditions(slices: list[Object]) -> dict[str, tuple[bool, bool, bool]]:
    """Ready, serving, terminating, by address."""
    return {
        address: (
            each["conditions"]["ready"],
            each["conditions"]["serving"],
            each["conditions"]["terminating"],
        )
        for found in slices
        for each in found.get("endpoints") or []
        for address in each["addresses"]
    }


def ports(slices: list[Object]) -> dict[str, set[tuple[str, str, int]]]:
    """Name, protocol and number, by address."""
    return {
        address: {
            (port.get("name", ""), port["protocol"], port["port"])
            for port in found.get("ports") or []
        }
        for found in slices
        for each in found.get("endpoints") or []
        for address in each["addresses"]
    }
