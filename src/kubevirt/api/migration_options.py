"""Settings of live migrations, cluster wide or per policy."""

from msgspec import field

from kubevirt.api.struct import Int32, Int64, Quantity, Struct


class DowntimeTuningOptions(Struct, frozen=True, kw_only=True):
    """…"""

    cooldown_seconds: Int32 | None = None
    initial_ms: Int64 | None = None
    start_after_iteration: Int64 | None = None
    steps: Int32 | None = None


class StallDetectorOptions(Struct, frozen=True, kw_only=True):
    """…"""

    completion_timeout_factor: Quantity | None = None
    ewma_alpha: Quantity | None = None
    patience_window_decay_factor: Quantity | None = None
    precopy_possible_factor: Quantity | None = None
    search_local_minima: bool | None = None
    stall_margin: Int64 | None = None
    stall_progress_timeout: Int64 | None = None
    switchover_timeout: Int64 | None = None


class ExperimentalMigrationOptions(Struct, frozen=True, kw_only=True):
    """…"""

    compression: str | None = None
    downtime_tuning: DowntimeTuningOptions | None = None
    stall_detector: StallDetectorOptions | None = None


class VMIMConfigurationOptions(Struct, frozen=True, kw_only=True):
    """…"""

    allow_auto_converge: bool | None = None
    allow_post_copy: bool | None = None
    allow_workload_disruption: bool | None = None
    bandwidth_per_migration: Quantity | None = None
    completion_timeout_per_gi_b: Int64 | None = None
    disable_tls: bool | None = field(default=None, name="disableTLS")
    experimental: ExperimentalMigrationOptions | None = None
    match_se_linux_level_on_migration: bool | None = field(
        default=None, name="matchSELinuxLevelOnMigration"
    )
    max_downtime_ms: Int64 | None = None
    network: str | None = None
    node_drain_taint_key: str | None = None
    parallel_migrations_per_cluster: Int64 | None = None
    parallel_outbound_migrations_per_node: Int64 | None = None
    progress_timeout: Int64 | None = None
    unsafe_migration_override: bool | None = None
    utility_volumes_timeout: Int64 | None = None


class MigrationConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    allow_auto_converge: bool | None = None
    allow_post_copy: bool | None = None
    allow_workload_disruption: bool | None = None
    bandwidth_per_migration: Quantity | None = None
    completion_timeout_per_gi_b: Int64 | None = None
    disable_tls: bool | None = field(default=None, name="disableTLS")
    match_se_linux_level_on_migration: bool | None = field(
        default=None, name="matchSELinuxLevelOnMigration"
    )
    max_downtime_ms: Int64 | None = None
    network: str | None = None
    node_drain_taint_key: str | None = None
    parallel_migrations_per_cluster: Int64 | None = None
    parallel_outbound_migrations_per_node: Int64 | None = None
    progress_timeout: Int64 | None = None
    unsafe_migration_override: bool | None = None
    utility_volumes_timeout: Int64 | None = None
