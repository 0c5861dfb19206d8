"""What can be done with objects, and how they and their kinds look."""

from collections.abc import Mapping, Sequence

_READING = "test_client_reading"
_WRITING = "test_client_writing"
_SOURCE = "test_source_contract"
_REFUSALS = "test_refusals"
_VERSIONS = "test_list_versions"
_APPLY = "test_apply_oracle"
_SCHEMA = "test_schema_oracle"
_LIFE = "test_crd_life"
_HOUSE = "test_crds"
_LARGE = "large/test_large_crds"
_TYPED = "packages/test_kubernetes_typed"

VERBS: Mapping[str, Sequence[str]] = {
    "get": (
        f"{_READING}::test_an_object_is_read_into_its_type",
        f"{_READING}::test_a_missing_object_is_told_from_a_missing_kind",
    ),
    "list: limit and continue": (
        f"{_READING}::test_a_list_in_chunks_is_the_whole_list",
        f"{_READING}::test_remaining_objects_are_counted_where_the_server_can",
        f"{_SOURCE}::test_pages_are_parts_of_one_list_of_one_version",
        f"{_READING}::test_a_list_begins_again_when_the_server_forgot_it",
        f"{_VERSIONS}::test_pages_of_a_forgotten_past_may_go_on_in_the_present",
        f"{_REFUSALS}::test_a_page_of_another_version_than_the_first_cannot_be",
    ),
    "list: resourceVersion": (
        f"{_READING}::test_a_version_of_the_future_is_waited_for_and_then_given_up",
        "test_bounds::test_a_version_of_the_near_future_is_answered_when_it_comes",
        f"{_REFUSALS}::test_lists_that_cannot_be",
        f"{_VERSIONS}::test_any_version_will_do",
        f"{_VERSIONS}::test_not_older_than_is_the_present_or_near_it",
        f"{_VERSIONS}::test_exactly_is_the_past_as_it_was",
        f"{_VERSIONS}::test_a_past_that_is_forgotten_is_gone_for_exactly_and_good_for_not_older",
    ),
    "list: label and field selectors": (
        f"{_READING}::test_selectors_pick",
        f"{_SOURCE}::test_labels_select",
        f"{_SOURCE}::test_fields_select",
        "test_selectors::test_labels_pick_what_the_text_says",
        "test_selectors::test_fields_pick_what_the_text_says",
        "test_selectors::test_a_text_that_is_no_label_selector_picks_nothing",
        "test_selectors::test_a_text_that_is_no_field_selector_picks_nothing",
        f"{_LARGE}::test_columns_selections_and_scale",
    ),
    "watch": (
        f"{_READING}::test_a_watch_continues_a_list_without_a_gap",
        f"{_SOURCE}::test_a_watch_without_a_version_begins_with_what_there_is",
        f"{_READING}::test_many_watches_run_side_by_side",
    ),
    "watch: bookmarks": (
        f"{_SOURCE}::test_a_watch_without_news_is_silent_but_for_bookmarks",
        f"{_SOURCE}::test_a_watch_hears_how_far_it_is_before_it_ends",
        "packages/test_kubernetes_watching::test_a_watch_that_streams_its_list_marks_the_end_of_it",
    ),
    "watch: sendInitialEvents": (
        f"{_READING}::test_a_streamed_list_begins_with_what_is_there",
        f"{_SOURCE}::test_a_streamed_list_ends_with_a_bookmark_and_goes_on_as_a_watch",
        f"{_SOURCE}::test_a_streamed_list_must_say_how_fresh",
    ),
    "watch: 410 Expired": (
        f"{_READING}::test_a_watch_of_forgotten_history_is_expired",
        "packages/test_kubernetes_watching::test_history_that_is_gone_is_410",
        "packages/test_lightkube_watching::test_history_that_is_gone_is_410_or_begun_again",
    ),
    "watch: timeouts": (f"{_SOURCE}::test_a_watch_ends_in_good_order_when_its_time_is_over",),
    "watch: objects that enter and leave a selector": (
        f"{_SOURCE}::test_an_object_enters_and_leaves_the_sight_of_a_selector",
        f"{_READING}::test_a_watch_sees_only_what_its_selector_picks",
    ),
    "create": (
        f"{_WRITING}::test_a_typed_object_is_created_and_comes_back",
        f"{_WRITING}::test_a_name_that_is_taken_is_a_conflict",
        f"{_REFUSALS}::test_objects_that_cannot_be_created",
    ),
    "create: generateName": (f"{_WRITING}::test_a_name_may_be_left_to_the_server",),
    "update: optimistic concurrency": (
        f"{_WRITING}::test_a_raw_object_can_be_replaced_unless_it_changed_meanwhile",
        f"{_REFUSALS}::test_updates_of_what_is_not_there",
        "test_versions_sent::test_a_version_that_says_nothing_is_no_hindrance",
        "test_versions_sent::test_a_version_that_cannot_be_is_refused",
    ),
    "a no-op changes nothing": (
        f"{_SOURCE}::test_a_change_of_nothing_is_no_event",
        f"{_WRITING}::test_a_patch_of_nothing_changes_nothing",
        f"{_APPLY}::test_an_apply_that_says_the_same_changes_nothing",
    ),
    "JSON patch": (
        "test_patch_oracle::test_json_patches",
        f"{_WRITING}::test_a_json_patch_goes_on_only_if_its_test_holds",
    ),
    "merge patch": (
        "test_patch_oracle::test_merge_patches",
        f"{_WRITING}::test_a_merge_patch_sets_and_removes",
    ),
    "strategic merge patch": (
        "test_strategic_oracle::test_strategic_merge_patches",
        f"{_WRITING}::test_a_strategic_patch_merges_lists_by_their_keys",
        f"{_LIFE}::test_kubectl_is_told_which_patches_a_custom_resource_takes",
    ),
    "apply: managedFields kept by every write": (
        f"{_APPLY}::test_an_update_takes_what_it_changes",
        f"{_APPLY}::test_any_writes_by_anybody",
        f"{_WRITING}::test_a_field_manager_is_recorded_for_every_write",
        f"{_WRITING}::test_whoever_writes_a_scale_owns_the_field_that_it_stands_for",
        "test_apply_builtin_oracle::test_owners_of_built_in_kinds",
    ),
    "apply: conflicts that name the manager, force": (
        f"{_APPLY}::test_conflicts_name_managers_and_fields",
        f"{_WRITING}::test_an_apply_to_anothers_field_names_the_manager_and_can_be_forced",
    ),
    "apply: keyed and set lists": (
        f"{_APPLY}::test_items_keep_their_place_unless_the_configuration_wants_another",
        f"{_APPLY}::test_atomic_values_are_owned_as_a_whole",
        f"{_LARGE}::test_applied_parts_of_a_large_object_have_owners",
    ),
    "apply: fields no longer applied": (
        f"{_APPLY}::test_fields_that_are_applied_no_more_are_removed",
        f"{_APPLY}::test_managers_share_what_both_say_and_keep_it_until_the_last_lets_go",
    ),
    "delete: preconditions": (f"{_WRITING}::test_only_the_very_object_is_deleted",),
    "delete: grace": (f"{_WRITING}::test_a_grace_period_is_what_was_asked_for",),
    "delete: finalizers": (f"{_WRITING}::test_a_finalizer_holds_an_object_until_it_is_removed",),
    "delete: Foreground, Background, Orphan": (
        f"{_WRITING}::test_dependants_may_be_waited_for_or_left_behind",
        "test_garbage::test_an_owner_waits_in_the_foreground_for_those_that_block_it",
        "test_garbage::test_orphans_stay_without_their_owner",
    ),
    "deletecollection": (
        f"{_WRITING}::test_a_collection_is_deleted_by_its_labels",
        "test_deleting_many::test_those_that_were_deleted_are_told_as_they_were",
        "test_deleting_many::test_a_page_is_deleted_and_no_more",
        "test_deleting_many::test_a_page_of_a_selection_is_deleted_and_no_more",
    ),
    "dryRun": (f"{_WRITING}::test_a_dry_run_checks_everything_and_stores_nothing",),
    "fieldValidation, duplicate keys": (
        f"{_WRITING}::test_unknown_fields_are_ignored_warned_of_or_refused",
        f"{_SCHEMA}::test_fields_that_are_there_twice_are_named",
        "test_unreadable::test_keys_that_are_there_twice_in_yaml",
        "test_unreadable::test_unknown_fields_and_keys_that_are_there_twice_are_told_together",
    ),
    "warnings": (
        f"{_WRITING}::test_a_deprecated_version_is_warned_of",
        "test_warnings_oracle::test_what_is_hardly_meant_is_warned_of",
        "test_warnings_oracle::test_who_changes_a_pod_is_not_told_again",
    ),
}

OBJECTS: Mapping[str, Sequence[str]] = {
    "uid, generation, timestamps": (
        f"{_SOURCE}::test_a_name_taken_again_has_another_uid",
        f"{_TYPED}::test_custom_objects_are_dictionaries",
    ),
    "name rules": (
        f"{_SCHEMA}::test_metadata_that_breaks_a_condition",
        f"{_REFUSALS}::test_objects_that_cannot_be_created",
    ),
    "status and scale apart from the rest": (
        f"{_WRITING}::test_status_and_the_rest_are_written_apart",
        f"{_WRITING}::test_a_scale_is_read_and_written_without_the_object",
        "test_unfit_below::test_it_is_refused_in_the_words_of_the_decoder",
        f"{_APPLY}::test_status_and_spec_have_owners_of_their_own",
    ),
    "ownerReferences and garbage collection": (
        "test_garbage::test_dependants_of_dependants_go_with_their_owner",
        "test_garbage::test_with_an_owner_left_only_the_other_reference_goes",
        "test_garbage::test_an_owner_in_another_namespace_is_none",
        "test_garbage::test_custom_kinds_own_and_belong",
        "test_garbage::test_what_was_begun_is_ended_though_the_server_was_killed",
    ),
    "namespace life cycle": (
        "test_namespace_life::test_all_that_is_in_a_namespace_goes_with_it",
        "test_namespace_life::test_a_namespace_says_what_holds_it_up",
        "test_namespace_life::test_the_servers_own_namespaces_stay",
        "test_namespace_furnished::test_every_namespace_has_a_service_account",
        f"{_REFUSALS}::test_nothing_new_comes_into_a_namespace_that_is_going",
    ),
}

REPRESENTATION: Mapping[str, Sequence[str]] = {
    "JSON and YAML in": (
        "test_forms::test_yaml_is_created_replaced_and_applied",
        "test_forms::test_yaml_that_is_no_config_map_is_refused",
        "test_forms::test_other_forms_are_not_taken",
        "test_unreadable::test_scalars_of_yaml_mean_what_they_mean_to_go",
    ),
    "YAML out": ("test_forms::test_yaml_is_what_comes_back_if_asked_for",),
    "protobuf in": (
        "test_wire::test_an_object_means_the_same_in_json_and_in_protobuf",
        "test_wire::test_damage_is_a_bad_request",
    ),
    "Table": (
        "test_tables::test_columns_are_those_of_the_server",
        "test_tables::test_cells_are_those_of_the_server",
        "test_tables::test_columns_of_custom_resources_say_where_their_values_are",
    ),
    "PartialObjectMetadata": (
        f"{_READING}::test_metadata_alone_leaves_the_rest_on_the_server",
        f"{_SOURCE}::test_metadata_alone_can_be_listed_and_watched",
    ),
    "a form that is not offered": (f"{_REFUSALS}::test_a_form_that_is_not_offered_is_refused",),
    "gzip": (f"{_READING}::test_a_long_list_comes_compressed",),
    "discovery": (
        "packages/test_kubernetes_dynamic::test_kinds_are_discovered",
        "packages/test_kubernetes_dynamic::test_subresources_and_versions_are_discovered",
        f"{_HOUSE}::test_short_names_and_categories_are_known",
    ),
    "OpenAPI v3, explain": (
        f"{_HOUSE}::test_explain_reads_well",
        f"{_LARGE}::test_large_definitions_are_explained",
        "test_builtin_kinds::test_fields_types_and_how_they_merge_are_those_of_the_server",
    ),
    "auth can-i --list": ("test_access_kubectl::test_what_can_i",),
    "apply, diff, wait, describe, events with kubectl": (
        "kubectl/test_kubectl::test_kubectl_says_the_same_of_both",
    ),
}

CRDS: Mapping[str, Sequence[str]] = {
    "validation with Kubernetes' words and paths": (
        f"{_SCHEMA}::test_values_that_break_a_condition",
        f"{_SCHEMA}::test_any_values",
        f"{_SCHEMA}::test_formats",
        f"{_LARGE}::test_an_object_is_kept_or_refused_alike",
    ),
    "CRDs that are none": (
        "test_definitions_oracle::test_a_mistake_is_named",
        "test_definitions_oracle::test_what_is_served_stays_what_it_is",
    ),
    "schemas that are none": (f"{_SCHEMA}::test_schemas_that_are_none",),
    "what was wrong may stay": (f"{_SCHEMA}::test_what_was_wrong_and_did_not_change_may_stay",),
    "defaulting": (
        f"{_LIFE}::test_objects_are_pruned_and_defaulted",
        f"{_APPLY}::test_what_defaults_fill_in_belongs_to_nobody_who_applied",
    ),
    "pruning, preserve-unknown": (
        f"{_LIFE}::test_objects_are_pruned_and_defaulted",
        f"{_APPLY}::test_what_no_schema_knows_merges_by_what_it_looks_like",
        f"{_APPLY}::test_an_embedded_object_has_metadata_of_its_own",
    ),
    "int-or-string, list types": (f"{_SCHEMA}::test_values_that_break_a_condition",),
    "CEL rules with oldSelf and messages": (
        f"{_SCHEMA}::test_values_that_break_a_rule",
        f"{_SCHEMA}::test_rules_about_changes",
        f"{_LARGE}::test_a_change_is_kept_or_refused_alike",
    ),
    "printer columns": (
        "test_tables::test_columns_of_custom_resources_say_where_their_values_are",
        f"{_LARGE}::test_columns_selections_and_scale",
    ),
    "several versions": (
        f"{_LIFE}::test_an_object_is_seen_in_every_version_that_is_served",
        f"{_APPLY}::test_owners_speak_of_the_version_they_wrote",
        f"{_LARGE}::test_both_versions_judge_alike",
    ),
    "names, categories": (
        f"{_LIFE}::test_a_kind_whose_names_are_taken_is_not_served",
        f"{_HOUSE}::test_short_names_and_categories_are_known",
    ),
    "live change": (f"{_LIFE}::test_a_schema_changes_while_it_is_served",),
    "deletion with its objects": (
        f"{_LIFE}::test_a_crd_goes_with_its_objects",
        "test_bounds::test_a_watch_ends_with_its_kind",
    ),
    "the house's own": (
        f"{_HOUSE}::test_client_side_apply_creates_every_crd_without_a_warning",
        f"{_HOUSE}::test_a_manifest_is_accepted_strictly",
        f"{_HOUSE}::test_a_manifest_is_kept_as_it_is_written",
        f"{_HOUSE}::test_every_kind_is_explained",
        f"{_HOUSE}::test_every_crd_is_structural",
    ),
    "large ones of others": (f"{_LARGE}::test_a_large_definition_is_established",),
}
