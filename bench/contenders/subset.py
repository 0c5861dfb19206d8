"""The fields of a VMI that our contender declares: what the controllers around it decide from.

Whatever is not named here is skipped while an object is decoded. The Go peer's transform
(peers/client-go/subset.go) keeps the same fields.
"""

from collections.abc import Mapping
from datetime import datetime

from kubevirt.api.meta import OwnerReference
from kubevirt.api.struct import NO_ENTRIES, Quantity, Struct


class Metadata(Struct, frozen=True, kw_only=True):
    name: str
    namespace: str | None = None
    uid: str
    resource_version: str | None = None
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    labels: Mapping[str, str] = NO_ENTRIES
    annotations: Mapping[str, str] = NO_ENTRIES
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()


class CPU(Struct, frozen=True, kw_only=True):
    cores: int | None = None
    sockets: int | None = None
    threads: int | None = None


class Memory(Struct, frozen=True, kw_only=True):
    guest: Quantity | None = None


class Domain(Struct, frozen=True, kw_only=True):
    cpu: CPU | None = None
    memory: Memory | None = None


class DataVolume(Struct, frozen=True, kw_only=True):
    name: str


class Claim(Struct, frozen=True, kw_only=True):
    claim_name: str


class Volume(Struct, frozen=True, kw_only=True):
    name: str
    data_volume: DataVolume | None = None
    persistent_volume_claim: Claim | None = None


class Spec(Struct, frozen=True, kw_only=True):
    domain: Domain
    eviction_strategy: str | None = None
    node_selector: Mapping[str, str] = NO_ENTRIES
    volumes: tuple[Volume, ...] = ()


class Condition(Struct, frozen=True, kw_only=True):
    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    last_transition_time: datetime | None = None


class Interface(Struct, frozen=True, kw_only=True):
    name: str | None = None
    ip_address: str | None = None
    ip_addresses: tuple[str, ...] = ()
    mac: str | None = None


class Status(Struct, frozen=True, kw_only=True):
    phase: str | None = None
    reason: str | None = None
    node_name: str | None = None
    evacuation_node_name: str | None = None
    active_pods: Mapping[str, str] = NO_ENTRIES
    conditions: tuple[Condition, ...] = ()
    interfaces: tuple[Interface, ...] = ()
    migration_method: str | None = None


class Vmi(Struct, frozen=True, kw_only=True):
    metadata: Metadata
    spec: Spec
    status: Status = Status()
