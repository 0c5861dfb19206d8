"""Bodies of calls that are no objects of their own."""

from typing import Annotated

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import ATOMIC, Int32, Int64, Struct


class Preconditions(Struct, frozen=True, kw_only=True):
    """What must be true of the object for the call to take effect."""

    resource_version: str | None = None
    uid: str | None = None


class DeleteOptions(Struct, frozen=True, kw_only=True):
    """Body of a deletion: when, on what condition, and what becomes of dependents."""

    api_version: str | None = None
    dry_run: Annotated[tuple[str, ...], ATOMIC] = ()
    grace_period_seconds: Int64 | None = None
    ignore_store_read_error_with_cluster_breaking_potential: bool | None = None
    kind: str | None = None
    orphan_dependents: bool | None = None
    preconditions: Preconditions | None = None
    propagation_policy: str | None = None


class ScaleSpec(Struct, frozen=True, kw_only=True):
    """The number wanted."""

    replicas: Int32 | None = None


class ScaleStatus(Struct, frozen=True, kw_only=True):
    """The number found, with the selector as text."""

    replicas: Int32
    selector: str | None = None


class Scale(Struct, frozen=True, kw_only=True):
    """Body of the scale subresource, equal for all kinds that have one."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: ScaleSpec = ScaleSpec()
    status: ScaleStatus | None = None
