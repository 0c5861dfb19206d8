"""Settings of live migrations, cluster wide or per policy."""

from typing import Annotated

from msgspec import field

from kubevirt.api.struct import Int32, Int64, Quantity, Struct, enum, mark


class DowntimeTuningOptions(Struct, frozen=True, kw_only=True):
    """Raises the allowed pause of a migration step by step; gate MigrationDowntimeTuning."""

    cooldown_seconds: Annotated[Int32 | None, mark(minimum=1)] = None
    """Least time between two raises, in seconds; default 10."""
    initial_ms: Annotated[Int64 | None, mark(minimum=1)] = None
    """Allowed pause at the start, in milliseconds; default 150."""
    start_after_iteration: Annotated[Int64 | None, mark(minimum=1)] = None
    """Passes over the memory before the first raise; default 3."""
    steps: Annotated[Int32 | None, mark(minimum=1)] = None
    """Raises on the way from initialMs to maxDowntimeMs; default 7."""


class StallDetectorOptions(Struct, frozen=True, kw_only=True):
    """When a migration counts as stuck and what follows; gate MigrationStallDetection."""

    completion_timeout_factor: Quantity | None = None
    """Multiple of the completion timeout that a forced switch has to fit in; default 2."""
    ewma_alpha: Quantity | None = None
    """Weight of the newest bandwidth sample, above 0 and up to 1; default 0.4."""
    patience_window_decay_factor: Quantity | None = None
    """Shortens the wait each time a worse minimum gets accepted; default 0.5."""
    precopy_possible_factor: Quantity | None = None
    """Stop-and-copy is tried up to this multiple of maxDowntimeMs, else abort; default 1.5."""
    search_local_minima: bool | None = None
    """Waits with acting on a stall until few bytes are left for a moment; default true."""
    stall_margin: Annotated[Int64 | None, mark(minimum=0, maximum=100)] = None
    """Percent that the remaining bytes must fall within the window; default 4."""
    stall_progress_timeout: Annotated[Int64 | None, mark(minimum=0)] = None
    """Length of the window in which progress is sought, in seconds; default 40."""
    switchover_timeout: Annotated[Int64 | None, mark(minimum=0)] = None
    """Seconds for the last step, stop-and-copy or post-copy, before it is aborted; default 60."""


class ExperimentalMigrationOptions(Struct, frozen=True, kw_only=True):
    """Settings that may change or vanish in any release."""

    compression: Annotated[str | None, enum("none", "zstd")] = None
    """Compression of migration traffic: none (default) or zstd."""
    downtime_tuning: DowntimeTuningOptions | None = None
    """Growing pause of the guest, so that migrations converge."""
    stall_detector: StallDetectorOptions | None = None
    """Detection of migrations that make no headway."""


class VMIMConfigurationOptions(Struct, frozen=True, kw_only=True):
    """Settings that one migration runs with, merged from cluster and policy."""

    allow_auto_converge: bool | None = None
    """Slows the guest's CPUs until its memory can be copied; default false."""
    allow_post_copy: bool | None = None
    """Lets a late migration run the guest on the target while memory still arrives;
    default false.
    """
    allow_workload_disruption: bool | None = None
    """Late migrations go to post-copy or pause the guest, not abort; default as allowPostCopy."""
    bandwidth_per_migration: Quantity | None = None
    """Limit of one migration in bytes a second, such as 64Mi; default 0, no limit."""
    completion_timeout_per_gi_b: Int64 | None = None
    """Seconds per GiB of guest until a migration counts as late; default 150."""
    disable_tls: bool | None = field(default=None, name="disableTLS")
    """Sends guest memory between nodes unencrypted; default false."""
    experimental: ExperimentalMigrationOptions | None = None
    """Settings without promise of stability."""
    match_se_linux_level_on_migration: bool | None = field(
        default=None, name="matchSELinuxLevelOnMigration"
    )
    """Gives the target pod the source's SELinux level (default); false lets the
    runtime pick one.
    """
    max_downtime_ms: Annotated[Int64 | None, mark(minimum=1, maximum=2000000)] = None
    """Longest pause at the switch, in ms; default 900; gate MigrationDowntimeTuning or
    MigrationStallDetection.
    """
    network: str | None = None
    """NetworkAttachmentDefinition in KubeVirt's namespace for the traffic; else the pod network."""
    node_drain_taint_key: str | None = None
    """Nodes with this taint are emptied by migrations; default kubevirt.io/drain."""
    parallel_migrations_per_cluster: Int32 | None = None
    """Migrations that may run in the cluster at once; default 5."""
    parallel_outbound_migrations_per_node: Int32 | None = None
    """Migrations that may leave one node at once; default 2."""
    progress_timeout: Int64 | None = None
    """Seconds in which not a byte moved, then the migration is aborted; default 150."""
    unsafe_migration_override: bool | None = None
    """Migrates even if libvirt deems it unsafe, as with some disk caches; default false."""
    utility_volumes_timeout: Int64 | None = None
    """Seconds a pending migration waits for utility volumes to go, then fails; default 150."""


class MigrationConfiguration(Struct, frozen=True, kw_only=True):
    """Settings of all migrations; a MigrationPolicy overrides them for some guests."""

    allow_auto_converge: bool | None = None
    """Slows the guest's CPUs until its memory can be copied; default false."""
    allow_post_copy: bool | None = None
    """Lets a late migration run the guest on the target while memory still arrives;
    default false.
    """
    allow_workload_disruption: bool | None = None
    """Late migrations go to post-copy or pause the guest, not abort; default as allowPostCopy."""
    bandwidth_per_migration: Quantity | None = None
    """Limit of one migration in bytes a second, such as 64Mi; default 0, no limit."""
    completion_timeout_per_gi_b: Int64 | None = None
    """Seconds per GiB of guest until a migration counts as late; default 150."""
    disable_tls: bool | None = field(default=None, name="disableTLS")
    """Sends guest memory between nodes unencrypted; default false."""
    match_se_linux_level_on_migration: bool | None = field(
        default=None, name="matchSELinuxLevelOnMigration"
    )
    """Gives the target pod the source's SELinux level (default); false lets the
    runtime pick one.
    """
    max_downtime_ms: Annotated[Int64 | None, mark(minimum=1, maximum=2000000)] = None
    """Longest pause at the switch, in ms; default 900; gate MigrationDowntimeTuning or
    MigrationStallDetection.
    """
    network: str | None = None
    """NetworkAttachmentDefinition in KubeVirt's namespace for the traffic; else the pod network."""
    node_drain_taint_key: str | None = None
    """Nodes with this taint are emptied by migrations; default kubevirt.io/drain."""
    parallel_migrations_per_cluster: Int32 | None = None
    """Migrations that may run in the cluster at once; default 5."""
    parallel_outbound_migrations_per_node: Int32 | None = None
    """Migrations that may leave one node at once; default 2."""
    progress_timeout: Int64 | None = None
    """Seconds in which not a byte moved, then the migration is aborted; default 150."""
    unsafe_migration_override: bool | None = None
    """Migrates even if libvirt deems it unsafe, as with some disk caches; default false."""
    utility_volumes_timeout: Int64 | None = None
    """Seconds a pending migration waits for utility volumes to go, then fails; default 150."""
