"""What the embedded server is not asked yet, and which part of its issue will make it be asked.

An entry goes away with the part that it names. At the end only those may be left that need another
program of Kubernetes' own.
"""

from collections.abc import Mapping

import pytest

OTHERS_PROGRAMS = "starts Kubernetes' own programs, with flags that only they have"
BOTH_AT_ONCE = "asks both servers in one test, when Kubernetes' own is the one under test"
ITS_OWN_TABLES = "asks the server from which our tables were made"
NO_POD_SECURITY = "asks for pod security by labels of namespaces, which ours does not have"
OTHERS_KINDS = "asks for a kind that is there for Kubernetes' own controllers"
OBJECTS_ALONE = "ours describes objects, and not what their subresources take"

NOT_YET: Mapping[str, str] = {
    "test_a_launchers_pod_is_taken_where_only_restricted_pods_are": NO_POD_SECURITY,
    "test_fields_types_and_how_they_merge_are_those_of_the_server": ITS_OWN_TABLES,
    "test_the_fields_of_a_kind_are_the_servers[daemonsets.apps]": OTHERS_KINDS,
    "test_the_fields_of_a_kind_are_the_servers[deployments.apps]": OTHERS_KINDS,
    "test_the_fields_of_a_body_are_the_servers": OBJECTS_ALONE,
}
"""By the name of a test, with or without its parameters, or of a module."""


def reason(item: pytest.Item) -> str | None:
    names: list[str] = getattr(item, "fixturenames", [])
    if "light_cluster" in names and "embedded_server" in names:
        return BOTH_AT_ONCE
    if "start_light_cluster" in names or "light_cluster" in names:
        return OTHERS_PROGRAMS
    known = (item.name, item.name.partition("[")[0], item.path.stem)
    return next((NOT_YET[name] for name in known if name in NOT_YET), None)
