"""Services and EndpointSlices, as much of them as the network reads: what it keeps of each is small."""

from typing import Final

from msgspec import field

from kubevirt.api import scheme
from kubevirt.api.meta import OwnerReference
from kubevirt.api.struct import NO_ENTRIES, Struct
from kubevirt.embedded.network.labels import SERVICE_NAME

HEADLESS: Final = "None"
EXTERNAL_NAME: Final = "ExternalName"
DEFAULT_AFFINITY_S: Final = 10800
"""Three hours, as in Kubernetes."""


class Metadata(Struct, frozen=True, kw_only=True):
    name: str = ""
    namespace: str | None = None
    uid: str = ""
    resource_version: str | None = None
    labels: "dict[str, str]" = NO_ENTRIES  # type: ignore[assignment]  # empty, and never changed
    owner_references: tuple[OwnerReference, ...] = ()


class ServicePort(Struct, frozen=True, kw_only=True):
    name: str | None = None
    port: int
    protocol: str | None = None


class ClientIP(Struct, frozen=True, kw_only=True):
    timeout_seconds: int | None = None


class AffinityConfig(Struct, frozen=True, kw_only=True):
    client_ip: ClientIP | None = field(default=None, name="clientIP")


class ServiceSpec(Struct, frozen=True, kw_only=True):
    type: str | None = None
    cluster_ip: str | None = field(default=None, name="clusterIP")
    external_name: str | None = None
    ports: tuple[ServicePort, ...] | None = None
    session_affinity: str | None = None
    session_affinity_config: AffinityConfig | None = None


class Service(Struct, frozen=True, kw_only=True):
    metadata: Metadata = Metadata()
    spec: ServiceSpec = ServiceSpec()

    @property
    def place(self) -> tuple[str, str]:
        return self.metadata.namespace or "", self.metadata.name

    @property
    def is_headless(self) -> bool:
        return self.spec.cluster_ip == HEADLESS and self.spec.type != EXTERNAL_NAME

    @property
    def address(self) -> str:
        """Its own IPv4 address, or nothing."""
        address = self.spec.cluster_ip or ""
        is_own = address != HEADLESS and self.spec.type != EXTERNAL_NAME and ":" not in address
        return address if is_own else ""

    @property
    def affinity_s(self) -> int:
        """How long a client stays with an endpoint; 0 if it does not matter."""
        if self.spec.session_affinity != "ClientIP":
            return 0
        config = self.spec.session_affinity_config
        given = config.client_ip.timeout_seconds if config and config.client_ip else None
        return given or DEFAULT_AFFINITY_S


class Conditions(Struct, frozen=True, kw_only=True):
    """None stands for unknown, which is taken for the better."""

    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class Endpoint(Struct, frozen=True, kw_only=True):
    addresses: tuple[str, ...] = ()
    conditions: Conditions = Conditions()
    hostname: str | None = None

    @property
    def is_ready(self) -> bool:
        return self.conditions.ready is not False

    @property
    def is_serving_its_last(self) -> bool:
        """On its way out, and still good for those who have nobody else."""
        return self.conditions.terminating is True and self.conditions.serving is not False


class EndpointPort(Struct, frozen=True, kw_only=True):
    name: str | None = None
    port: int | None = None
    protocol: str | None = None


class EndpointSlice(Struct, frozen=True, kw_only=True):
    metadata: Metadata = Metadata()
    address_type: str = ""
    endpoints: tuple[Endpoint, ...] | None = None
    ports: tuple[EndpointPort, ...] | None = None

    @property
    def service(self) -> tuple[str, str]:
        return self.metadata.namespace or "", self.metadata.labels.get(SERVICE_NAME, "")


SERVICES: Final = scheme.SERVICES.read_as(Service)
ENDPOINT_SLICES: Final = scheme.ENDPOINT_SLICES.read_as(EndpointSlice)
