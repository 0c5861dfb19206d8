"""Lease: who holds a lock, and until when."""

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import Int32, MicroTime, Struct


class LeaseSpec(Struct, frozen=True, kw_only=True):
    """The holder, and when it last showed itself alive."""

    acquire_time: MicroTime | None = None
    holder_identity: str | None = None
    lease_duration_seconds: Int32 | None = None
    lease_transitions: Int32 | None = None
    preferred_holder: str | None = None
    renew_time: MicroTime | None = None
    strategy: str | None = None


class Lease(Struct, frozen=True, kw_only=True):
    """A lock with an expiry, for electing a leader."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: LeaseSpec = LeaseSpec()
