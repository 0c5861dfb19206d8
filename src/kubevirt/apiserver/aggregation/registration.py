"""An APIService, as decisions need it: who serves one version of a group, and before whom it is listed."""

import base64
import binascii

import msgspec

from kubevirt.apiserver.callees.callee import HTTPS_PORT, Callee, ClientFiles

AVAILABLE = "Available"


class ServiceRef(msgspec.Struct, frozen=True, kw_only=True):
    namespace: str = ""
    name: str = ""
    port: int = HTTPS_PORT


class Condition(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Of an APIService; there is only one type."""

    status: str
    reason: str
    message: str
    type: str = AVAILABLE


class _Spec(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    group: str = ""
    version: str = ""
    group_priority_minimum: int = 0
    version_priority: int = 0
    service: ServiceRef | None = None
    ca_bundle: str | None = None
    insecure_skip_tls_verify: bool = msgspec.field(default=False, name="insecureSkipTLSVerify")


class _Status(msgspec.Struct, frozen=True):
    conditions: tuple["_Said", ...] | None = None


class _Said(msgspec.Struct, frozen=True):
    type: str = ""
    status: str = ""


class _Metadata(msgspec.Struct, frozen=True):
    name: str


class _ApiService(msgspec.Struct, frozen=True):
    metadata: _Metadata
    spec: _Spec = _Spec()
    status: _Status = _Status()


_decoder = msgspec.json.Decoder(_ApiService)


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    group: str
    version: str
    group_priority: int
    version_priority: int
    service: ServiceRef | None = None
    """None for a version that is served here."""
    authority: bytes = b""
    is_unverified: bool = False
    is_available: bool = False

    @property
    def path(self) -> str:
        """Of everything that it serves."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def is_same_but_for_availability(self, other: "Registration") -> bool:
        return self == msgspec.structs.replace(other, is_available=self.is_available)

    def callee(self, client: ClientFiles | None) -> Callee:
        service = self.service or ServiceRef()
        return Callee(
            namespace=service.namespace,
            name=service.name,
            port=service.port,
            authority=self.authority,
            is_unverified=self.is_unverified,
            client=client,
        )


def read(value: bytes) -> Registration:
    """From the store. Raises `msgspec.ValidationError` for what no server of ours has written."""
    found = _decoder.decode(value)
    spec = found.spec
    conditions = found.status.conditions or ()
    return Registration(
        name=found.metadata.name,
        group=spec.group,
        version=spec.version,
        group_priority=spec.group_priority_minimum,
        version_priority=spec.version_priority,
        service=spec.service,
        authority=_decoded(spec.ca_bundle),
        is_unverified=spec.insecure_skip_tls_verify,
        is_available=any(each.type == AVAILABLE and each.status == "True" for each in conditions),
    )


def _decoded(bundle: str | None) -> bytes:
    try:
        return base64.b64decode(bundle or "")
    except binascii.Error:
        return b"?"  # no authority at all, which trusts nobody
