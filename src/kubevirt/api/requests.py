"""Bodies of the calls on subresources: start, stop, pause, …"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import field

from kubevirt.api.core.references import TypedObjectReference
from kubevirt.api.meta import LabelSelector
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Duration, Int32, Int64, Struct


class EvacuateCancelOptions(Struct, frozen=True, kw_only=True):
    """Body of evacuate/cancel: the guest stays on its node after all."""

    api_version: str | None = None
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    """All checks the request without effect; nothing else is allowed."""
    evacuation_node_name: str
    """Node that the guest was to leave."""
    kind: str | None = None


class FreezeUnfreezeTimeout(Struct, frozen=True, kw_only=True):
    """Body of freeze."""

    unfreeze_timeout: Duration
    """Time after which file systems thaw by themselves, such as 5m; 0s waits for unfreeze."""


class MigrateOptions(Struct, frozen=True, kw_only=True):
    """Body of migrate."""

    added_node_selector: Mapping[str, str] = NO_ENTRIES
    """Labels that the target must have, besides the guest's own node selector."""
    api_version: str | None = None
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    """All checks the request without effect; nothing else is allowed."""
    kind: str | None = None


class ObjectGraphNode(Struct, frozen=True, kw_only=True):
    """Answer of objectgraph: an object that the guest depends on, with its own dependencies."""

    api_version: str | None = None
    children: Annotated[tuple["ObjectGraphNode", ...], ATOMIC] = ()
    """Objects that this one depends on."""
    kind: str | None = None
    labels: Mapping[str, str] = NO_ENTRIES
    """Labels that sort the object, such as by storage or network."""
    object_reference: TypedObjectReference
    """The object."""
    optional: bool | None = None
    """Whether the guest can do without it."""


class ObjectGraphOptions(Struct, frozen=True, kw_only=True):
    """Body of objectgraph."""

    include_optional_nodes: bool | None = None
    """Whether to list objects that the guest can do without; default true."""
    label_selector: LabelSelector | None = None
    """Only objects whose labels in the graph match."""


class PauseOptions(Struct, frozen=True, kw_only=True):
    """Body of pause."""

    api_version: str | None = None
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    """All checks the request without effect; nothing else is allowed."""
    kind: str | None = None


class UnpauseOptions(Struct, frozen=True, kw_only=True):
    """Body of unpause."""

    api_version: str | None = None
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    """All checks the request without effect; nothing else is allowed."""
    kind: str | None = None


class RestartOptions(Struct, frozen=True, kw_only=True):
    """Body of restart."""

    api_version: str | None = None
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    """All checks the request without effect; nothing else is allowed."""
    grace_period_seconds: Int64 | None = None
    """0 cuts the guest off; no other value is allowed. If not set, it shuts down by itself."""
    kind: str | None = None


class SEVMeasurementInfo(Struct, frozen=True, kw_only=True):
    """What AMD SEV measured of a guest at launch, for its owner to check."""

    api_major: Int32 | None = None
    """Major version of the node's SEV interface."""
    api_minor: Int32 | None = None
    """Minor version of the node's SEV interface."""
    api_version: str | None = None
    build_id: Int32 | None = field(default=None, name="buildID")
    """Build of the node's SEV firmware."""
    kind: str | None = None
    loader_sha: str | None = field(default=None, name="loaderSHA")
    """SHA-256 of the guest's firmware image."""
    measurement: str | None = None
    """The measurement, in base64."""
    policy: Int32 | None = None
    """Bits of the guest's SEV policy."""


class SEVPlatformInfo(Struct, frozen=True, kw_only=True):
    """Keys of a node's AMD SEV platform, for preparing a session."""

    api_version: str | None = None
    cert_chain: str | None = None
    """Certificates of the platform, in base64."""
    kind: str | None = None
    pdh: str | None = None
    """Diffie-Hellman key of the platform, in base64."""


class SEVSecretOptions(Struct, frozen=True, kw_only=True):
    """Body of sev/injectlaunchsecret."""

    header: str | None = None
    """Header that goes with the secret, in base64."""
    secret: str | None = None
    """The encrypted secret, in base64."""


class SEVSessionOptions(Struct, frozen=True, kw_only=True):
    """Body of sev/setupsession."""

    dh_cert: str | None = None
    """Diffie-Hellman key of the guest's owner, in base64."""
    session: str | None = None
    """Session data made by the owner, in base64."""


class StartOptions(Struct, frozen=True, kw_only=True):
    """Body of start."""

    api_version: str | None = None
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    """All checks the request without effect; nothing else is allowed."""
    kind: str | None = None
    paused: bool | None = None
    """Starts the guest paused, for example to watch it boot."""


class StopOptions(Struct, frozen=True, kw_only=True):
    """Body of stop."""

    api_version: str | None = None
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    """All checks the request without effect; nothing else is allowed."""
    grace_period: Int64 | None = None
    """Seconds the guest gets to shut down, instead of its own grace period."""
    kind: str | None = None
