"""Bodies of the calls on subresources: start, stop, pause, …"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import field

from kubevirt.api.core.references import TypedObjectReference
from kubevirt.api.meta import LabelSelector
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Duration, Int32, Int64, Struct


class EvacuateCancelOptions(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    evacuation_node_name: str
    kind: str | None = None


class FreezeUnfreezeTimeout(Struct, frozen=True, kw_only=True):
    """…"""

    unfreeze_timeout: Duration


class MigrateOptions(Struct, frozen=True, kw_only=True):
    """…"""

    added_node_selector: Mapping[str, str] = NO_ENTRIES
    api_version: str | None = None
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    kind: str | None = None


class ObjectGraphNode(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    children: Annotated[tuple["ObjectGraphNode", ...], ATOMIC] = ()
    kind: str | None = None
    labels: Mapping[str, str] = NO_ENTRIES
    object_reference: TypedObjectReference
    optional: bool | None = None


class ObjectGraphOptions(Struct, frozen=True, kw_only=True):
    """…"""

    include_optional_nodes: bool | None = None
    label_selector: LabelSelector | None = None


class PauseOptions(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    kind: str | None = None


class UnpauseOptions(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    kind: str | None = None


class RestartOptions(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    grace_period_seconds: Int64 | None = None
    kind: str | None = None


class SEVMeasurementInfo(Struct, frozen=True, kw_only=True):
    """…"""

    api_major: Int32 | None = None
    api_minor: Int32 | None = None
    api_version: str | None = None
    build_id: Int32 | None = field(default=None, name="buildID")
    kind: str | None = None
    loader_sha: str | None = field(default=None, name="loaderSHA")
    measurement: str | None = None
    policy: Int32 | None = None


class SEVPlatformInfo(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    cert_chain: str | None = None
    kind: str | None = None
    pdh: str | None = None


class SEVSecretOptions(Struct, frozen=True, kw_only=True):
    """…"""

    header: str | None = None
    secret: str | None = None


class SEVSessionOptions(Struct, frozen=True, kw_only=True):
    """…"""

    dh_cert: str | None = None
    session: str | None = None


class StartOptions(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    kind: str | None = None
    paused: bool | None = None


class StopOptions(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    grace_period: Int64 | None = None
    kind: str | None = None
