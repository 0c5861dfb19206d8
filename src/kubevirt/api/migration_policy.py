"""MigrationPolicy: migration settings for machines with certain labels."""

from collections.abc import Mapping

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.migration_options import ExperimentalMigrationOptions
from kubevirt.api.struct import NO_ENTRIES, Int64, Quantity, Struct


class Selectors(Struct, frozen=True, kw_only=True):
    """…"""

    namespace_selector: Mapping[str, str] = NO_ENTRIES
    virtual_machine_instance_selector: Mapping[str, str] = NO_ENTRIES


class MigrationPolicySpec(Struct, frozen=True, kw_only=True):
    """…"""

    allow_auto_converge: bool | None = None
    allow_post_copy: bool | None = None
    allow_workload_disruption: bool | None = None
    bandwidth_per_migration: Quantity | None = None
    completion_timeout_per_gi_b: Int64 | None = None
    experimental: ExperimentalMigrationOptions | None = None
    max_downtime_ms: Int64 | None = None
    selectors: Selectors


class MigrationPolicyStatus(Struct, frozen=True, kw_only=True):
    """…"""


class MigrationPolicy(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: MigrationPolicySpec
    status: MigrationPolicyStatus = MigrationPolicyStatus()
