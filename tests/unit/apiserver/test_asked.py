"""What a request is about, from its path."""

import pytest

from kubevirt.apiserver.http.asked import Asked, is_true, read

VMS = "/apis/kubevirt.io/v1/namespaces/default/virtualmachines"


@pytest.mark.parametrize(
    ("method", "path", "verb", "named"),
    [
        ("GET", VMS, "list", ""),
        ("GET", f"{VMS}?watch=true", "watch", ""),
        ("GET", f"{VMS}?watch=0", "list", ""),
        ("POST", VMS, "create", ""),
        ("DELETE", VMS, "deletecollection", ""),
        ("GET", f"{VMS}/testvm", "get", "testvm"),
        ("PUT", VMS, "update", ""),
        ("PUT", f"{VMS}/testvm", "update", "testvm"),
        ("PATCH", f"{VMS}/testvm", "patch", "testvm"),
        ("DELETE", f"{VMS}/testvm", "delete", "testvm"),
        ("GET", f"{VMS}?fieldSelector=metadata.name%3Dtestvm", "list", "testvm"),
        ("GET", f"{VMS}?watch&fieldSelector=metadata.name==testvm", "watch", "testvm"),
        ("GET", f"{VMS}?fieldSelector=metadata.name!=testvm", "list", ""),
    ],
)
def test_the_verb_follows_from_the_method_and_whether_one_is_named(
    method: str, path: str, verb: str, named: str
) -> None:
    asked = ask(method, path)
    assert (asked.verb, asked.name) == (verb, named)
    assert (asked.group, asked.version, asked.resource) == ("kubevirt.io", "v1", "virtualmachines")
    assert asked.namespace == "default"


def ask(method: str, address: str) -> Asked:
    path, _, query = address.partition("?")
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    return read(method, path, {name: value.replace("%3D", "=") for name, _, value in pairs})


def test_a_namespace_is_in_itself() -> None:
    asked = ask("GET", "/api/v1/namespaces/kube-system")
    assert (asked.resource, asked.namespace, asked.name) == (
        "namespaces",
        "kube-system",
        "kube-system",
    )
    asked = ask("PUT", "/api/v1/namespaces/kube-system/finalize")
    assert (asked.resource, asked.name, asked.subresource) == (
        "namespaces",
        "kube-system",
        "finalize",
    )
    assert ask("GET", "/api/v1/namespaces").namespace == ""


def test_a_subresource_may_have_more_behind_it() -> None:
    asked = ask("GET", "/apis/sub.example/v1/namespaces/a/machines/m/portforward/22/tcp")
    assert (asked.subresource, asked.rest) == ("portforward", "22/tcp")


def test_a_cluster_wide_resource_has_no_namespace() -> None:
    asked = ask("GET", "/api/v1/nodes/node01/status")
    assert (asked.namespace, asked.resource, asked.name, asked.subresource) == (
        "",
        "nodes",
        "node01",
        "status",
    )


@pytest.mark.parametrize(
    "path", ["/", "/healthz", "/version", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1"]
)
def test_other_paths_are_about_no_resource(path: str) -> None:
    asked = ask("GET", path)
    assert not asked.is_resource
    assert asked.verb == "get"


def test_an_escaped_name_is_read_as_it_was_meant() -> None:
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/kubevirt.io%3Aadmin"
    assert ask("GET", path).name == "kubevirt.io:admin"


@pytest.mark.parametrize("value", ["", "1", "true", "yes"])
def test_a_boolean_without_a_value_means_yes(value: str) -> None:
    assert is_true(value)


@pytest.mark.parametrize("value", [None, "0", "false", "fAlSe"])
def test_a_boolean_that_is_not_there_means_no(value: str | None) -> None:
    assert not is_true(value)


def test_a_slash_by_another_name_is_a_slash() -> None:
    asked = ask("GET", f"{VMS}/testvm%2Fstatus")
    assert (asked.name, asked.subresource) == ("testvm", "status")
    assert asked.path == f"{VMS}/testvm/status"
