"""Plugin: code of others that takes part in the life of guests."""

from typing import Annotated

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import ATOMIC, Duration, Struct


class AdmissionReference(Struct, frozen=True, kw_only=True):
    """…"""

    name: str


class CELDomainHook(Struct, frozen=True, kw_only=True):
    """…"""

    expression: str


class SidecarDomainHook(Struct, frozen=True, kw_only=True):
    """…"""

    socket_path: str


class DomainHook(Struct, frozen=True, kw_only=True):
    """…"""

    cel: CELDomainHook | None = None
    condition: str | None = None
    failure_strategy: str | None = None
    sidecar: SidecarDomainHook | None = None
    timeout: Duration | None = None


class NodeHook(Struct, frozen=True, kw_only=True):
    """…"""

    condition: str | None = None
    failure_strategy: str | None = None
    permitted_hooks: Annotated[tuple[str, ...], ATOMIC]
    socket: str
    timeout: Duration | None = None


class PluginSpec(Struct, frozen=True, kw_only=True):
    """…"""

    condition: str | None = None
    domain_hooks: Annotated[tuple[DomainHook, ...], ATOMIC] = ()
    failure_strategy: str | None = None
    mutating_admission_policies: Annotated[tuple[AdmissionReference, ...], ATOMIC] = ()
    mutating_admission_webhooks: Annotated[tuple[AdmissionReference, ...], ATOMIC] = ()
    node_hooks: Annotated[tuple[NodeHook, ...], ATOMIC] = ()
    validating_admission_policies: Annotated[tuple[AdmissionReference, ...], ATOMIC] = ()
    validating_admission_webhooks: Annotated[tuple[AdmissionReference, ...], ATOMIC] = ()


class PluginStatus(Struct, frozen=True, kw_only=True):
    """…"""


class Plugin(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: PluginSpec
    status: PluginStatus = PluginStatus()
