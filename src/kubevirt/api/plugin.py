"""Plugin: code of others that takes part in the life of guests."""

from typing import Annotated

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import ATOMIC, Duration, Struct, mark


class AdmissionReference(Struct, frozen=True, kw_only=True):
    """An admission object that belongs to the plugin."""

    name: Annotated[str, mark(minLength=1)]
    """Name of the object."""


class CELDomainHook(Struct, frozen=True, kw_only=True):
    """A change written as an expression."""

    expression: Annotated[str, mark(minLength=1)]
    """CEL expression that yields the changes to the libvirt domain."""


class SidecarDomainHook(Struct, frozen=True, kw_only=True):
    """A change made by a container of the plugin."""

    socket_path: Annotated[str, mark(minLength=1)]
    """Unix socket to call, below /var/run/kubevirt-plugin/ and the plugin's name."""


class DomainHook(Struct, frozen=True, kw_only=True):
    """Changes the libvirt domain before the guest starts; one of cel and sidecar."""

    cel: CELDomainHook | None = None
    """Changes by an expression."""
    condition: str | None = None
    """CEL expression over the instance; the hook runs where it is true, or always if empty."""
    failure_strategy: str | None = None
    """On an error: Fail (default) stops the start, Ignore goes on."""
    sidecar: SidecarDomainHook | None = None
    """Changes by a call to a sidecar."""
    timeout: Duration | None = None
    """How long the hook may take, such as 10s."""


class NodeHook(Struct, frozen=True, kw_only=True):
    """Calls a service on the node at moments of a guest's life."""

    condition: str | None = None
    """CEL expression over the instance; the hook runs where it is true, or always if empty."""
    failure_strategy: str | None = None
    """On an error: Fail (default) or Ignore."""
    permitted_hooks: Annotated[tuple[str, ...], ATOMIC, mark(minItems=1)]
    """Moments: Pre or Post, then VMStart, VMStop, MigrationSource or MigrationTarget, as in
    PreVMStart.
    """
    socket: Annotated[str, mark(minLength=1)]
    """Unix socket of the service on the node."""
    timeout: Duration | None = None
    """How long one call may take, such as 10s."""


class PluginSpec(Struct, frozen=True, kw_only=True):
    """What the plugin does, and to which guests."""

    condition: str | None = None
    """CEL expression over the instance; the plugin applies where it is true, or to all if empty."""
    domain_hooks: Annotated[tuple[DomainHook, ...], ATOMIC] = ()
    """Changes to the libvirt domain, in this order; plugins go by name."""
    failure_strategy: str | None = None
    """For hooks that set none: Fail (default) or Ignore."""
    mutating_admission_policies: Annotated[tuple[AdmissionReference, ...], ATOMIC] = ()
    """MutatingAdmissionPolicies that belong to the plugin."""
    mutating_admission_webhooks: Annotated[tuple[AdmissionReference, ...], ATOMIC] = ()
    """MutatingWebhookConfigurations that belong to the plugin."""
    node_hooks: Annotated[tuple[NodeHook, ...], ATOMIC] = ()
    """Calls to services on the node."""
    validating_admission_policies: Annotated[tuple[AdmissionReference, ...], ATOMIC] = ()
    """ValidatingAdmissionPolicies that belong to the plugin."""
    validating_admission_webhooks: Annotated[tuple[AdmissionReference, ...], ATOMIC] = ()
    """ValidatingWebhookConfigurations that belong to the plugin."""


class PluginStatus(Struct, frozen=True, kw_only=True):
    """Empty: plugins have no state."""


class Plugin(Struct, frozen=True, kw_only=True):
    """Extends guests of the whole cluster by hooks, in place of hook sidecars; gate Plugins."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: PluginSpec
    """What the plugin does."""
    status: PluginStatus = PluginStatus()
    """Empty."""
