"""The kinds that are there before any CRD, and the programs that speak to the server."""

from collections.abc import Mapping, Sequence

_TYPED = "packages/test_kubernetes_typed"
_WATCHING = "packages/test_kubernetes_watching"
_DYNAMIC = "packages/test_kubernetes_dynamic"
_LIGHT = "packages/test_lightkube"
_LIFE = f"{_TYPED}::test_a_kind_lives_its_life"
_NEW = "test_kinds_oracle::test_a_new_object"
_CHANGE = "test_kinds_oracle::test_a_change"
_CELLS = "test_tables::test_cells_are_those_of_the_server"
_PODS = "test_client_pods"
_ENDPOINTS = "test_pod_endpoints_oracle"

BUILT_IN_KINDS: Mapping[str, Sequence[str]] = {
    "their fields, types and verbs": (
        "test_builtin_kinds::test_fields_types_and_how_they_merge_are_those_of_the_server",
        "test_builtin_kinds::test_names_scopes_verbs_and_subresources_are_those_of_the_server",
    ),
    "their columns": (
        _CELLS,
        "test_tables::test_columns_are_those_of_the_server",
        "test_tables_oracle::test_a_row_is_that_of_the_server",
    ),
    "Namespace": (
        f"{_TYPED}::test_a_namespace_is_made_and_goes",
        "test_namespace_life::test_a_finalizer_of_a_namespace_has_a_qualified_name",
    ),
    "Node": (_LIFE, "test_access_nodes::test_a_node_changes_of_itself_what_is_its_own"),
    "Pod: defaults, and those of Kubernetes' own admission": (
        _LIFE,
        "test_pods_oracle::test_a_pod_is_filled_in",
    ),
    "Pod: validation": (
        "test_pods_oracle::test_a_pod_is_refused",
        f"{_ENDPOINTS}::test_a_pod_changes_in_few_ways",
    ),
    "Pod: status": (f"{_ENDPOINTS}::test_a_status_of_a_pod",),
    "Pod: binding": (
        f"{_PODS}::test_a_pod_is_bound_to_a_node_once",
        f"{_ENDPOINTS}::test_a_pod_is_bound",
    ),
    "Pod: eviction": (
        f"{_PODS}::test_a_pod_is_evicted",
        f"{_PODS}::test_a_disruption_budget_stands_before_an_eviction",
        f"{_ENDPOINTS}::test_a_pod_goes_when_it_is_evicted",
        f"{_ENDPOINTS}::test_a_budget_is_kept",
    ),
    "Pod: log": (
        "test_pod_streams::test_a_log_comes_from_the_node",
        "test_pod_streams::test_a_node_says_no",
        f"{_PODS}::test_a_log_needs_a_pod_and_a_container_that_are_there",
    ),
    "Pod: exec": (
        "test_pod_streams::test_a_terminal_goes_both_ways",
        "test_pod_streams::test_a_terminal_of_a_pod_that_is_nowhere",
        f"{_PODS}::test_a_program_needs_a_pod_that_is_there",
        f"{_PODS}::test_a_program_needs_a_pod_that_runs_somewhere",
    ),
    "ConfigMap": (_LIFE,),
    "Secret": (_LIFE,),
    "Service": (
        *(_LIFE, _NEW, _CHANGE),
        "test_kinds_oracle::test_an_address_is_of_one_service",
        "test_kinds_oracle::test_the_server_is_a_service",
    ),
    "Endpoints": (_LIFE, _NEW, _CHANGE),
    "EndpointSlice": (_LIFE, _NEW, _CHANGE),
    "Event, both APIs": (
        _LIFE,
        "test_events_oracle::test_one_event_is_seen_by_both",
        "test_events_oracle::test_an_event_changes_through_either",
        "test_events_recorded::test_an_event_is_stored_and_counted",
        "test_events_expire::test_an_event_goes_some_time_after_it_was_last_written",
    ),
    "ServiceAccount, token": (
        _LIFE,
        f"{_TYPED}::test_a_service_account_comes_with_its_token",
        "test_access_reviews::test_a_token_request_is_answered_with_what_was_granted",
    ),
    "PersistentVolume": (_LIFE, _NEW, _CHANGE),
    "PersistentVolumeClaim": (_LIFE, _NEW, _CHANGE),
    "StorageClass": (_LIFE, _NEW, _CHANGE),
    "PriorityClass": (_LIFE, _NEW, "test_kinds_oracle::test_the_system_has_priorities"),
    "ControllerRevision": (_LIFE, _NEW, _CHANGE),
    "PodDisruptionBudget": (_LIFE, f"{_PODS}::test_a_disruption_budget_stands_before_an_eviction"),
    "Lease": (_LIFE, "test_leader_election::test_a_lease_is_taken_renewed_and_handed_over"),
    "Role, RoleBinding, ClusterRole, ClusterRoleBinding": (
        _LIFE,
        "test_access_objects::test_what_a_binding_leaves_out_is_filled_in",
        "test_access_objects::test_what_says_nothing_is_refused",
    ),
    "CustomResourceDefinition": (
        f"{_TYPED}::test_definitions_are_typed",
        "test_crd_life::test_what_is_left_out_of_a_crd_is_filled_in",
        "test_crd_life::test_what_a_kind_is_cannot_change",
    ),
    "APIService": (
        "aggregation/test_api_service_rules::test_what_makes_no_sense_is_refused",
        "aggregation/test_api_service_rules::test_what_is_left_out_is_filled_in",
    ),
    "webhook configurations": (
        _LIFE,
        "test_webhooks_configurations::test_configurations_that_cannot_be",
        "test_webhooks_configurations::test_what_is_left_out_is_filled_in",
    ),
    "TokenReview": ("test_access_reviews::test_a_token_is_reviewed",),
    "access reviews": (
        "test_access_reviews::test_a_subject_is_reviewed",
        "test_access_reviews::test_a_local_review_stays_in_its_namespace",
        "test_access_reviews::test_everybody_may_ask_about_themselves",
        "test_access_reviews::test_everybody_may_list_their_rules",
    ),
    "SelfSubjectReview": ("test_access_reviews::test_everybody_may_ask_who_they_are",),
    "any other kind is 404": ("test_refusals::test_paths_and_methods_that_are_none",),
}

PEERS: Mapping[str, Sequence[str]] = {
    "`kubernetes`: typed clients": (
        _LIFE,
        f"{_TYPED}::test_every_type_of_patch_is_taken",
        f"{_TYPED}::test_what_is_applied_is_owned",
        f"{_TYPED}::test_a_list_comes_in_pages_and_selections",
        f"{_TYPED}::test_refusals_have_their_classes",
        f"{_TYPED}::test_manifests_are_created_from_yaml",
    ),
    "`kubernetes`: watch, informer": (
        f"{_WATCHING}::test_a_watch_tells_what_happens_and_resumes",
        f"{_WATCHING}::test_custom_objects_are_watched",
        f"{_WATCHING}::test_the_informer_holds_what_the_server_has",
    ),
    "`kubernetes`: dynamic client": (
        f"{_DYNAMIC}::test_an_object_lives_its_life",
        f"{_DYNAMIC}::test_what_is_applied_is_owned",
        f"{_DYNAMIC}::test_a_watch_tells_what_happens",
    ),
    "`kubernetes`: leader election": (
        "packages/test_kubernetes_leader::test_one_leads_and_then_the_other",
    ),
    "`kubernetes.aio`": (
        "packages/test_kubernetes_aio::test_a_config_map_lives_its_life",
        "packages/test_kubernetes_aio::test_a_watch_tells_what_happens_while_it_does",
        "packages/test_kubernetes_aio::test_the_dynamic_client_finds_and_applies",
    ),
    "logs and terminals through the packages": (
        "packages/test_package_streams::test_the_kubernetes_package_reads_a_log",
        "packages/test_package_streams::test_the_kubernetes_package_has_a_terminal",
        "packages/test_package_streams::test_lightkube_reads_a_log",
    ),
    "`lightkube`: typed and generic resources": (
        f"{_LIGHT}::test_a_config_map_lives_its_life",
        f"{_LIGHT}::test_typed_resources_come_back",
        f"{_LIGHT}::test_generic_resources_have_status_and_scale",
        f"{_LIGHT}::test_generic_resources_are_found_by_their_definitions",
    ),
    "`lightkube`: patch, apply, list, codecs": (
        f"{_LIGHT}::test_every_type_of_patch_is_taken",
        f"{_LIGHT}::test_what_is_applied_is_owned",
        f"{_LIGHT}::test_lists_come_in_chunks_and_selections",
        f"{_LIGHT}::test_manifests_are_loaded_applied_and_dumped",
    ),
    "`lightkube`: watch, wait, async": (
        "packages/test_lightkube_watching::test_a_watch_tells_what_happens_and_resumes",
        "packages/test_lightkube_watching::test_conditions_are_waited_for",
        "packages/test_lightkube_async::test_a_watch_tells_what_happens_while_it_does",
        "packages/test_lightkube_async::test_waiting_ends_when_the_object_is_gone",
    ),
    "client-go": ("test_leader_election::test_client_go_and_we_respect_each_other",),
    "the informers of the house": (
        "test_informer_server::test_an_informer_sees_what_there_is_and_what_changes",
        "test_informer_server::test_no_change_is_missed_while_the_server_is_broken",
        "test_informer_server::test_a_server_restored_from_a_backup_is_followed_into_the_past",
    ),
    "the controller of examples/": (
        "test_example_controller_survives::test_a_controller_survives_the_death_of_the_api_server_and_a_restart_of_its_store",
        "test_controller_with_expectations::test_a_controller_that_expects_what_it_does_never_makes_one_too_many",
    ),
}
