"""What the embedded server is not asked yet, and which part of its issue will make it be asked.

An entry goes away with the part that it names. At the end only those may be left that need another
program of Kubernetes' own.
"""

from collections.abc import Mapping

import pytest

OTHERS_PROGRAMS = "starts Kubernetes' own programs, with flags that only they have"
PODS = "runs with the built-in kinds: eviction, log and exec of pods"
PUBLISHED = "runs with the collector, which puts kube-root-ca.crt and a service account into every namespace"
PROTOBUF = "runs with bodies in protobuf, which kubectl sends of built-in kinds and nothing else"
NO_DEPLOYMENTS = "asks for deployments, which the embedded server does not have"
ITS_OWN_TABLES = "asks the server from which our tables were made"

NOT_YET: Mapping[str, str] = {
    "test_a_name_can_be_given_for_the_certificate": PUBLISHED,
    "test_a_service_account_is_let_in_by_its_token": PUBLISHED,
    "test_an_administrator_can_act_as_another": PUBLISHED,
    "test_access_kubectl": PROTOBUF,
    "test_a_disruption_budget_stands_before_an_eviction": PODS,
    "test_a_log_needs_a_pod_and_a_container_that_are_there": PODS,
    "test_a_pod_is_evicted": PODS,
    "test_a_program_needs_a_pod_that_is_there": PODS,
    "test_a_program_needs_a_pod_that_runs_somewhere": PODS,
    "test_owners_of_built_in_kinds[Deployment]": NO_DEPLOYMENTS,
    "test_strategic_merge_patches": NO_DEPLOYMENTS,
    "test_fields_types_and_how_they_merge_are_those_of_the_server": ITS_OWN_TABLES,
}
"""By the name of a test, with or without its parameters, or of a module."""


def reason(item: pytest.Item) -> str | None:
    names: list[str] = getattr(item, "fixturenames", [])
    if "start_light_cluster" in names or "light_cluster" in names:
        return OTHERS_PROGRAMS
    known = (item.name, item.name.partition("[")[0], item.path.stem)
    return next((NOT_YET[name] for name in known if name in NOT_YET), None)
