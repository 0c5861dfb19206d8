"""Where programs are, for the API server and everybody else: endpoints of Services, as a pod's would be.

Nobody selects them, for there are no pods; so whoever runs one says where it is, and that it is not there any more.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, NamedTuple

from kubevirt.api.scheme import ENDPOINT_SLICES
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.base.log import get_logger
from kubevirt.embedded.network.labels import MANAGED_BY, SERVICE_NAME
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.patches import Apply
from kubevirt.virt.install import front, monitoring
from kubevirt.virt.install.options import NAMESPACE

MANAGER: Final = "virtctl-up"
LIMIT_S: Final = 10.0

log = get_logger(__name__)


class Door(NamedTuple):
    """What a program is found for."""

    name: str
    service: str
    port_name: str = ""


API: Final = Door("virt-api-process", front.NAME)


def figures_of(program: str) -> Door:
    return Door(f"{program}-metrics", monitoring.NAME, monitoring.PORT_NAME)


@asynccontextmanager
async def told(
    client: Client, door: Door, address: str, port: int, clock: Clock
) -> AsyncIterator[None]:
    wanted = Apply(_endpoints(door, address, port))
    await client.patch(
        ENDPOINT_SLICES.raw, door.name, wanted, NAMESPACE, field_manager=MANAGER, force=True
    )
    try:
        yield
    finally:
        try:
            async with clock.timeout(LIMIT_S):
                await _forget(client, door.name)
        except (KubevirtError, TimeoutError) as error:
            # The next one tells anew; until then nobody answers there, which is seen, too.
            log.warning("where a program was could not be taken back", door=door.name, error=error)


async def forget_all(client: Client) -> None:
    """Of programs that were killed before they could take back where they were."""
    found = await client.list(
        ENDPOINT_SLICES.metadata_only, NAMESPACE, label_selector=f"{MANAGED_BY}={MANAGER}"
    )
    for each in found.items:
        await _forget(client, each.metadata.name)


async def _forget(client: Client, name: str) -> None:
    with suppress(NotFound):
        await client.delete(ENDPOINT_SLICES.raw, name, NAMESPACE)


def _endpoints(door: Door, address: str, port: int) -> Mapping[str, Any]:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": door.name,
            "namespace": NAMESPACE,
            "labels": {SERVICE_NAME: door.service, MANAGED_BY: MANAGER},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
        "ports": [{"name": door.port_name, "port": port, "protocol": "TCP"}],
    }
