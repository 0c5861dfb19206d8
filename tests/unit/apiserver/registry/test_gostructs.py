"""Objects as Go would write them: what goes, what stays, what comes."""

import pytest

from kubevirt.apiserver.registry.gostructs import written
from kubevirt.apiserver.schema.metadata import Undecodable


def test_what_is_empty_goes() -> None:
    container = {"name": "a", "args": [], "stdin": False, "workingDir": "", "env": []}
    made = written({"spec": {"containers": [container], "hostNetwork": False}}, "Pod")
    assert made["spec"] == {"containers": [{"name": "a", "resources": {}}]}


def test_a_zero_behind_a_pointer_stays() -> None:
    spec = {"containers": [], "terminationGracePeriodSeconds": 0, "hostUsers": False}
    assert written({"spec": spec}, "Pod")["spec"] == spec


def test_an_empty_struct_behind_a_pointer_stays() -> None:
    spec = {"containers": [], "securityContext": {}, "volumes": [{"name": "a", "emptyDir": {}}]}
    assert written({"spec": spec}, "Pod")["spec"] == spec


def test_what_is_always_written_comes() -> None:
    condition = {"type": "Ready", "status": "True"}
    made = written({"status": {"conditions": [condition]}}, "Pod")
    assert made["status"]["conditions"] == [
        {**condition, "lastProbeTime": None, "lastTransitionTime": None}
    ]
    node = written({}, "Node")
    assert node["status"]["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 0}}


def test_a_list_that_is_said_to_be_empty_is_not_absent() -> None:
    assert written({"rules": []}, "Role")["rules"] == []
    assert written({}, "Role")["rules"] is None


@pytest.mark.parametrize(
    ("said", "shown"),
    [("0.5", "500m"), (2, "2"), ("1024Mi", "1Gi"), (1.5, "1500m"), ("1e3", "1e3"), ("0", "0")],
)
def test_a_quantity_is_written_in_one_way(said: object, shown: str) -> None:
    resources = {"limits": {"cpu": said}}
    made = written({"spec": {"containers": [{"name": "a", "resources": resources}]}}, "Pod")
    assert made["spec"]["containers"][0]["resources"]["limits"]["cpu"] == shown


def test_what_is_no_quantity_cannot_be_read() -> None:
    with pytest.raises(Undecodable, match="quantities must match the regular expression"):
        written({"spec": {"capacity": {"storage": "much"}}}, "PersistentVolume")


@pytest.mark.parametrize("name", ["default", "additionalProperties", "example"])
@pytest.mark.parametrize("value", [False, 0, "", {}])
def test_what_can_be_anything_stays_as_it_is(name: str, value: object) -> None:
    schema = {"type": "object", name: value}
    version = {"name": "v1", "schema": {"openAPIV3Schema": schema}}
    made = written({"spec": {"versions": [version]}}, "CustomResourceDefinition")
    assert made["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == schema


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"containers": {}}, "object into Go struct field PodSpec.spec.containers of type"),
        ({"hostname": 1}, "number into Go struct field PodSpec.spec.hostname of type string"),
        ({"nodeSelector": {"a": True}}, "bool into Go struct field PodSpec.spec.nodeSelector"),
        (
            {"containers": [{"name": []}]},
            "array into Go struct field Container.spec.containers.name",
        ),
        ({"priority": 1.5}, "number 1.5 into Go struct field PodSpec.spec.priority of type int32"),
        ({"priority": 2**31}, "number 2147483648 into Go struct field PodSpec.spec.priority"),
    ],
)
def test_a_value_of_a_wrong_type_is_refused_where_it_stands(said: object, words: str) -> None:
    with pytest.raises(Undecodable, match=words):
        written({"spec": said}, "Pod")


def test_nothing_is_changed_in_place() -> None:
    pod = {"spec": {"containers": [{"name": "a", "env": [], "resources": {"limits": {"cpu": 1}}}]}}
    written(pod, "Pod")
    assert pod == {
        "spec": {"containers": [{"name": "a", "env": [], "resources": {"limits": {"cpu": 1}}}]}
    }
