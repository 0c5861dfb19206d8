"""Where virt-api is, for the API server and everybody else: endpoints of its Service, as a pod's would be.

Nobody selects it, for there is no pod; so whoever runs it says where it is, and that it is not there any more.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from kubevirt.api.scheme import ENDPOINT_SLICES
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.base.log import get_logger
from kubevirt.embedded.network.labels import MANAGED_BY, SERVICE_NAME
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.patches import Apply
from kubevirt.virt.install import front
from kubevirt.virt.install.options import NAMESPACE

MANAGER: Final = "virtctl-up"
NAME: Final = "virt-api-process"
LIMIT_S: Final = 10.0

log = get_logger(__name__)


@asynccontextmanager
async def told(client: Client, address: str, port: int, clock: Clock) -> AsyncIterator[None]:
    wanted = Apply(_endpoints(address, port))
    await client.patch(
        ENDPOINT_SLICES.raw, NAME, wanted, NAMESPACE, field_manager=MANAGER, force=True
    )
    try:
        yield
    finally:
        try:
            async with clock.timeout(LIMIT_S):
                await forget(client)
        except (KubevirtError, TimeoutError) as error:
            # The next one tells anew; until then nobody answers there, which is seen, too.
            log.warning("where virt-api was could not be taken back", error=error)


async def forget(client: Client) -> None:
    with suppress(NotFound):
        await client.delete(ENDPOINT_SLICES.raw, NAME, NAMESPACE)


def _endpoints(address: str, port: int) -> Mapping[str, Any]:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": NAME,
            "namespace": NAMESPACE,
            "labels": {SERVICE_NAME: front.NAME, MANAGED_BY: MANAGER},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
        "ports": [{"name": "", "port": port, "protocol": "TCP"}],
    }
