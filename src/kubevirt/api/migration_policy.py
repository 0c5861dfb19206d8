"""MigrationPolicy: migration settings for machines with certain labels."""

from collections.abc import Mapping
from typing import Annotated

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.migration_options import ExperimentalMigrationOptions
from kubevirt.api.struct import NO_ENTRIES, NULLABLE, Int64, Quantity, Struct, mark


class Selectors(Struct, frozen=True, kw_only=True):
    """Guests that the policy is for: all given labels must be present."""

    namespace_selector: Mapping[str, str] = NO_ENTRIES
    """Labels of the guest's namespace."""
    virtual_machine_instance_selector: Mapping[str, str] = NO_ENTRIES
    """Labels of the guest."""


class MigrationPolicySpec(Struct, frozen=True, kw_only=True):
    """Settings that replace those of the cluster."""

    allow_auto_converge: bool | None = None
    """Slows the guest's CPUs until its memory can be copied."""
    allow_post_copy: bool | None = None
    """Lets a late migration run the guest on the target while memory still arrives."""
    allow_workload_disruption: bool | None = None
    """Late migrations go to post-copy or pause the guest, not abort."""
    bandwidth_per_migration: Quantity | None = None
    """Limit of one migration in bytes a second, such as 64Mi; 0 is no limit."""
    completion_timeout_per_gi_b: Int64 | None = None
    """Seconds per GiB of guest until a migration counts as late."""
    experimental: ExperimentalMigrationOptions | None = None
    """Settings without promise of stability."""
    max_downtime_ms: Annotated[Int64 | None, mark(minimum=1, maximum=2000000)] = None
    """Longest pause at the switch, in ms; gate MigrationDowntimeTuning or
    MigrationStallDetection.
    """
    selectors: Selectors
    """Guests that the policy is for."""


class MigrationPolicyStatus(Struct, frozen=True, kw_only=True):
    """Empty: policies have no state."""


class MigrationPolicy(Struct, frozen=True, kw_only=True):
    """Migration settings for some guests; of several that fit, the one with most matching labels
    wins.
    """

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: MigrationPolicySpec
    """Guests and settings."""
    status: Annotated[MigrationPolicyStatus, NULLABLE] = MigrationPolicyStatus()
    """Empty."""
