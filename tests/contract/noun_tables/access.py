"""Who may do what, who is asked about it, and who answers in the server's place."""

from collections.abc import Mapping, Sequence

_IDENTITY = "test_access_identity"
_DECISIONS = "test_access_decisions"
_ESCALATION = "test_access_escalation"
_NODES = "test_access_nodes"
_REVIEWS = "test_access_reviews"
_CLIENT = "test_client_access"
_MUTATING = "test_webhooks_mutating"
_REFUSING = "test_webhooks_refusing"
_MATCHING = "test_webhooks_matching"
_SHOWN = "test_webhooks_reviews"
_PROXYING = "aggregation/test_proxying"
_WEBSOCKETS = "aggregation/test_websockets"
_AVAILABILITY = "aggregation/test_availability"

WHO_MAY: Mapping[str, Sequence[str]] = {
    "TLS under a CA of its own": (
        f"{_CLIENT}::test_a_server_signed_by_another_authority_is_not_trusted",
        "unit/apiserver/auth/test_authority::test_strict_clients_and_expired_ones_reach_the_server",
    ),
    "client certificates": (
        f"{_CLIENT}::test_a_user_without_rights_is_told_who_may_not_do_what",
        f"{_CLIENT}::test_an_expired_certificate_is_named_with_its_day",
    ),
    "service-account tokens: bound, expiring": (
        f"{_CLIENT}::test_a_service_account_is_let_in_by_its_token",
        f"{_REVIEWS}::test_a_token_ends_with_its_account",
        f"{_REVIEWS}::test_a_token_ends_with_the_secret_that_it_is_bound_to",
        "unit/apiserver/auth/test_identity::test_a_token_expires_though_it_was_believed_a_moment_ago",
    ),
    "front-proxy headers": (
        "aggregation/test_front_proxy::test_a_proxy_says_who_somebody_is",
        "aggregation/test_front_proxy::test_a_proxy_that_names_nobody_is_nobody",
        "unit/apiserver/auth/test_identity::test_a_proxy_that_we_trust_says_who_it_is",
        "unit/apiserver/auth/test_identity::test_nobody_else_says_who_they_are",
    ),
    "acting as another": (
        f"{_IDENTITY}::test_acting_as_another_brings_exactly_what_was_asked_for",
        f"{_IDENTITY}::test_each_part_of_another_must_be_allowed",
    ),
    "RBAC": (
        f"{_DECISIONS}::test_random_policies_allow_what_the_evaluator_says",
        f"{_DECISIONS}::test_the_default_roles_are_those_of_kubernetes",
        f"{_DECISIONS}::test_a_refusal_says_who_may_not_do_what",
    ),
    "RBAC: aggregation": (
        f"{_DECISIONS}::test_a_label_adds_a_role_to_another",
        f"{_ESCALATION}::test_only_an_administrator_gathers_roles",
    ),
    "RBAC: escalation and bind": (
        f"{_ESCALATION}::test_a_role_gives_no_more_than_its_author_has",
        f"{_ESCALATION}::test_a_binding_gives_no_more_than_its_author_has",
    ),
    "RBAC: resourceNames, subresources": (
        f"{_DECISIONS}::test_random_policies_allow_what_the_evaluator_says",
        "test_access_selectors::test_whoever_may_see_one_object_is_given_that_one",
        "test_access_selectors::test_whoever_may_see_one_object_is_never_given_others",
    ),
    "RBAC: nonResourceURLs": (
        f"{_ESCALATION}::test_a_cluster_role_gives_no_more_paths_than_its_author_has",
    ),
    "anonymous": (
        f"{_IDENTITY}::test_an_anonymous_one_gets_health_and_version_only",
        "test_health::test_it_is_well_and_says_of_what",
    ),
    "a node's identity": (
        f"{_NODES}::test_a_node_may_ask_for_what_its_pods_use",
        f"{_NODES}::test_a_node_does_not_change_another",
        f"{_NODES}::test_a_node_reports_on_its_own_pods_only",
        "test_access_selectors::test_a_node_that_asks_for_its_own_pods_is_never_given_others",
    ),
    "audit log": (
        "component/apiserver/test_audit::test_every_request_is_written_down_without_secrets",
        "component/apiserver/test_aggregation::test_what_its_client_breaks_off_is_written_down_with_the_code_it_had",
        "unit/apiserver/auth/test_audit::test_lines_are_written_in_order_and_rotated",
    ),
}

ADMISSION: Mapping[str, Sequence[str]] = {
    "mutating webhooks": (
        f"{_MUTATING}::test_a_patch_is_applied",
        f"{_MUTATING}::test_patches_that_are_none",
        f"{_MUTATING}::test_fields_of_webhooks_and_their_owner",
    ),
    "reinvocation": (
        f"{_MUTATING}::test_who_wants_to_see_changes_behind_it_is_asked_again",
        f"{_MUTATING}::test_nobody_is_asked_again_about_what_nobody_changed",
        f"{_MUTATING}::test_nobody_is_asked_three_times",
    ),
    "the order: mutating, schema, validating": (
        f"{_MUTATING}::test_webhooks_are_asked_by_name_and_in_order_and_see_what_was_done",
        f"{_MUTATING}::test_what_a_webhook_makes_is_judged_by_the_schema",
        f"{_MUTATING}::test_validating_webhooks_see_what_mutating_ones_made",
        f"{_MATCHING}::test_pods_pass_webhooks_after_the_servers_own_steps",
    ),
    "validating webhooks": (
        f"{_REFUSING}::test_a_no_is_passed_on",
        f"{_REFUSING}::test_the_causes_of_a_no_are_passed_on",
        f"{_REFUSING}::test_one_no_among_many_is_enough",
        f"{_REFUSING}::test_a_validating_webhook_changes_nothing",
    ),
    "what they are shown": (
        f"{_SHOWN}::test_a_creation_shows_the_object_before_it_is_born",
        f"{_SHOWN}::test_an_update_shows_both_objects",
        f"{_SHOWN}::test_a_deletion_shows_what_goes_and_how",
        f"{_SHOWN}::test_a_status_is_told_from_the_rest",
    ),
    "rules and selectors": (
        f"{_MATCHING}::test_rules",
        f"{_MATCHING}::test_labels_of_objects",
        f"{_MATCHING}::test_labels_of_other_namespaces",
        f"{_MATCHING}::test_another_version_of_a_resource_is_the_same_resource",
    ),
    "matchConditions": (
        f"{_MATCHING}::test_conditions",
        f"{_MATCHING}::test_a_condition_without_an_answer_is_a_webhook_that_fails",
        "test_webhooks_configurations::test_conditions_that_are_no_expressions",
    ),
    "failurePolicy, timeouts": (
        f"{_REFUSING}::test_a_webhook_that_is_away",
        f"{_REFUSING}::test_a_webhook_that_hangs",
        f"{_REFUSING}::test_answers_that_are_none",
        "component/apiserver/test_webhooks::test_a_webhook_that_hangs_holds_up_nobody_else",
    ),
    "sideEffects": (f"{_REFUSING}::test_a_dry_run_spares_those_without_side_effects",),
    "warnings of webhooks": (
        f"{_REFUSING}::test_warnings_are_passed_on",
        f"{_REFUSING}::test_too_many_warnings_are_cut",
    ),
    "live change": (
        f"{_MATCHING}::test_a_configuration_takes_effect_and_loses_it",
        f"{_MATCHING}::test_a_changed_configuration_takes_effect",
    ),
}

AGGREGATION: Mapping[str, Sequence[str]] = {
    "APIServices proxied": (
        f"{_PROXYING}::test_a_request_arrives_as_it_was_sent",
        f"{_PROXYING}::test_an_answer_comes_back_as_it_was_given",
        f"{_PROXYING}::test_a_watch_tells_each_event_when_it_happens",
        f"{_PROXYING}::test_a_callee_with_a_certificate_of_others_is_not_believed",
    ),
    "websockets": (
        f"{_WEBSOCKETS}::test_a_protocol_is_agreed_on_with_the_callee",
        f"{_WEBSOCKETS}::test_messages_keep_their_kind_and_their_bytes",
        f"{_WEBSOCKETS}::test_the_callee_ends_it_in_its_own_words",
    ),
    "availability": (
        f"{_AVAILABILITY}::test_somebody_is_there",
        f"{_AVAILABILITY}::test_nobody_answers",
        f"{_AVAILABILITY}::test_the_service_has_no_endpoints",
        f"{_AVAILABILITY}::test_nothing_is_written_while_nothing_changes",
    ),
    "the front proxy's identity": (
        f"{_PROXYING}::test_the_callee_learns_who_asks",
        f"{_PROXYING}::test_nobody_says_in_the_servers_place_who_they_are",
        "aggregation/test_front_proxy::test_how_the_server_is_known_is_published",
    ),
    "discovery of what others serve": (
        "aggregation/test_discovering::test_everything_is_listed_in_one_document",
        "aggregation/test_discovering::test_who_is_away_is_stale_and_takes_nothing_from_others",
        "aggregation/test_discovering::test_kubectl_explains_what_others_serve",
    ),
    "local APIServices": (
        "aggregation/test_local_api_services::test_a_built_in_group_is_local",
        "aggregation/test_local_api_services::test_a_crd_brings_one_for_each_version",
    ),
    "a callee in the same process": (
        "component/apiserver/test_aggregation::test_a_callee_of_the_same_process_needs_neither_service_nor_certificate",
        "component/apiserver/test_webhooks::test_a_callee_of_the_same_process_is_reached_over_its_socket",
        "component/apiserver/test_webhooks::test_a_socket_that_others_can_reach_is_not_believed",
    ),
}
