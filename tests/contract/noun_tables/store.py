"""The store and the bounds of the server."""

from collections.abc import Mapping, Sequence

_POWER = "component/apiserver/test_store_power"
_COMPACTION = "component/apiserver/test_compaction"
_CRASHES = "component/apiserver/test_store_crashes"
_SERVER = "component/apiserver/test_server"
_BOUNDS = "component/apiserver/test_server_bounds"
_MEMORY = "component/apiserver/test_server_memory"
_FAULTS = "component/apiserver/test_server_faults"
_PROGRAM = "component/apiserver/test_server_program"
_UNIT = "unit/apiserver/storage"
_READING = "test_client_reading"
_SOURCE = "test_source_contract"

STORE: Mapping[str, Sequence[str]] = {
    "an acknowledged write is on disk": (
        f"{_POWER}::test_the_wal_is_synced_before_each_acknowledgement",
        f"{_POWER}::test_a_power_cut_loses_nothing_that_was_acknowledged",
        f"{_POWER}::test_a_store_that_does_not_sync_is_found_out",
        f"{_CRASHES}::test_a_store_killed_at_any_moment_keeps_what_it_acknowledged",
        "component/apiserver/test_server_crashes::test_a_server_killed_at_any_moment_keeps_what_it_acknowledged",
    ),
    "one writer, group commit": (
        f"{_POWER}::test_with_many_clients_a_sync_is_shared",
        f"{_UNIT}/test_sqlite_limits::test_waiting_writes_share_a_commit",
        f"{_UNIT}/test_sqlite_limits::test_a_batch_is_bounded",
    ),
    "one global revision": (
        f"{_SOURCE}::test_versions_of_events_are_those_of_their_objects_and_grow",
        f"{_SOURCE}::test_pages_are_parts_of_one_list_of_one_version",
        f"{_UNIT}/test_store_writing::test_every_change_has_the_next_revision",
    ),
    "watch from any revision still kept": (
        f"{_SOURCE}::test_a_watch_can_continue_after_any_event",
        f"{_READING}::test_a_watch_of_forgotten_history_is_expired",
        f"{_UNIT}/test_store_watching::test_a_watch_can_begin_before_a_restart",
    ),
    "compaction that blocks no request": (
        f"{_READING}::test_a_list_begins_again_when_the_server_forgot_it",
        f"{_COMPACTION}::test_while_the_past_is_forgotten_everything_is_read_and_a_write_waits_for_one_step",
        f"{_COMPACTION}::test_a_write_waits_for_a_few_steps_of_a_thousand",
        f"{_UNIT}/test_store_watching::test_a_live_watch_does_not_mind_compaction",
        f"{_UNIT}/test_store_listing::test_a_long_list_shows_one_revision_while_others_write",
        f"{_UNIT}/test_retention::test_a_busy_store_forgets_as_it_goes",
        f"{_UNIT}/test_retention::test_an_idle_store_writes_nothing",
    ),
    "schema version and migration": (
        f"{_UNIT}/test_sqlite_opening::test_an_old_store_is_migrated_step_by_step",
        f"{_UNIT}/test_sqlite_opening::test_a_migration_that_fails_leaves_the_old_version",
        f"{_PROGRAM}::test_a_store_of_a_newer_version_is_left_alone",
    ),
    "integrity check at start": (
        f"{_UNIT}/test_sqlite_opening::test_a_damaged_store_is_refused",
        f"{_UNIT}/test_sqlite_opening::test_the_check_at_the_start_takes_no_longer_than_it_may",
        f"{_CRASHES}::test_a_torn_wal_leaves_the_writes_before_the_tear",
    ),
    "one process at a time": (f"{_PROGRAM}::test_a_store_in_use_by_another_process_is_left_alone",),
    "a full disk": (
        f"{_FAULTS}::test_on_a_full_disk_reads_go_on_and_writes_come_back_with_room",
        f"{_CRASHES}::test_a_full_disk_refuses_writes_until_there_is_room",
        f"{_CRASHES}::test_on_a_small_file_system_that_is_full_reads_and_later_writes_go_on",
    ),
    "a jumping clock": (
        f"{_FAULTS}::test_a_clock_that_jumps_ends_tokens_and_nothing_else",
        f"{_UNIT}/test_retention::test_the_past_goes_by_itself_and_a_jumping_clock_does_not_matter",
    ),
    "it survives its server": (
        "test_client_access::test_a_client_outlives_its_server",
        f"{_SERVER}::test_objects_and_kinds_survive_the_server",
    ),
}

BOUNDS: Mapping[str, Sequence[str]] = {
    "size of a body": (
        "test_bounds::test_a_body_beyond_three_megabytes_is_not_read",
        f"{_SERVER}::test_a_body_beyond_the_limit_is_not_read",
    ),
    "size of an object": (
        "test_bounds::test_an_object_beyond_one_and_a_half_megabytes_is_not_stored",
        "test_bounds::test_a_config_map_holds_a_megabyte",
    ),
    "size of headers, and what is no request": (
        f"{_BOUNDS}::test_whoever_never_ends_a_request_line_is_let_go",
        f"{_BOUNDS}::test_what_is_no_request_is_answered_once_and_let_go",
    ),
    "nesting": (
        "test_unreadable::test_what_is_no_json",
        "test_unreadable::test_what_is_no_yaml",
        f"{_BOUNDS}::test_what_may_be_sent_can_be_handled_however_deep_it_is",
        "unit/apiserver/test_bodies::test_a_few_lines_that_mean_billions_are_refused",
    ),
    "large lists": (f"{_BOUNDS}::test_many_large_objects_are_listed_in_little_memory",),
    "concurrent requests of a user": (
        f"{_BOUNDS}::test_a_user_with_too_many_requests_is_told_to_come_again",
        f"{_BOUNDS}::test_watches_are_counted_apart",
        f"{_BOUNDS}::test_whoever_speaks_of_an_upgrade_is_counted_as_all_others",
    ),
    "connections": (
        f"{_BOUNDS}::test_connections_beyond_the_limit_are_closed",
        f"{_BOUNDS}::test_a_connection_that_nobody_uses_any_more_is_closed",
        f"{_BOUNDS}::test_a_body_that_does_not_come_is_not_waited_for",
    ),
    "a slow watcher is cut": (
        f"{_BOUNDS}::test_whoever_takes_nothing_of_a_watch_is_cut_and_others_see_everything",
        f"{_UNIT}/test_store_watching::test_a_slow_watcher_is_cut_and_can_resume",
    ),
    "memory": (
        f"{_MEMORY}::test_what_comes_and_goes_leaves_no_memory_behind",
        f"{_MEMORY}::test_a_thousand_idle_watchers_cost_little",
    ),
    "no request is answered by a mistake": (
        "test_failures::test_both_servers_fail_in_the_same_words",
        "component/apiserver/test_server_surface::test_no_request_is_answered_by_a_mistake",
        "component/apiserver/test_server_openapi::test_every_operation_answers",
        "component/apiserver/test_server_openapi::test_no_request_is_answered_by_a_mistake",
        "component/apiserver/test_server_schemathesis::test_answers_are_what_the_documents_say",
    ),
}
