"""APIServices as they are read, indexed and listed."""

import msgspec
import pytest

from kubevirt.apiserver.aggregation import availability, registration
from kubevirt.apiserver.aggregation.description import CURRENT, Description
from kubevirt.apiserver.aggregation.descriptions import Descriptions
from kubevirt.apiserver.aggregation.directory import Directory
from kubevirt.apiserver.aggregation.registration import Registration, ServiceRef
from kubevirt.apiserver.aggregation.registrations import Registrations
from kubevirt.apiserver.kinds.catalog import Catalog

SERVICE = ServiceRef(namespace="play", name="toys")


def a_registration(
    group: str = "toys.example",
    version: str = "v1",
    priority: tuple[int, int] = (1000, 15),
    **more: object,
) -> Registration:
    made = Registration(
        name=f"{version}.{group}",
        group=group,
        version=version,
        group_priority=priority[0],
        version_priority=priority[1],
        service=SERVICE,
    )
    return msgspec.structs.replace(made, **more)


def test_an_api_service_is_read_from_the_store() -> None:
    conditions = [{"type": "Available", "status": "True", "reason": "Passed"}]
    stored = {
        "metadata": {"name": "v1.toys.example", "labels": {}},
        "spec": {
            "group": "toys.example",
            "version": "v1",
            "groupPriorityMinimum": 1000,
            "versionPriority": 15,
            "caBundle": "YWJj",
            "service": {"namespace": "play", "name": "toys", "port": 8443},
        },
        "status": {"conditions": conditions},
    }
    found = registration.read(msgspec.json.encode(stored))
    assert found == a_registration(
        authority=b"abc",
        is_available=True,
        service=ServiceRef(namespace="play", name="toys", port=8443),
    )
    assert found.callee(None).host == "toys.play.svc"
    assert found.path == "/apis/toys.example/v1"


def test_who_serves_a_version_is_who_was_registered_last() -> None:
    all_of_them = Registrations()
    first = a_registration()
    all_of_them.put(first)
    generation = all_of_them.generation
    all_of_them.put(first)
    assert all_of_them.generation == generation
    assert all_of_them.serving("toys.example", "v1") is first
    all_of_them.put(a_registration(service=None))
    assert all_of_them.serving("toys.example", "v1") is None
    all_of_them.put(first)
    all_of_them.remove(first.name)
    assert all_of_them.serving("toys.example", "v1") is None
    assert list(all_of_them.elsewhere) == []


def test_a_judgement_is_about_what_was_judged() -> None:
    all_of_them = Registrations()
    first = a_registration()
    all_of_them.put(first)
    all_of_them.judged(first, is_available=True)
    assert all_of_them.get(first.name) == a_registration(is_available=True)
    other = a_registration(authority=b"another")
    all_of_them.put(other)
    all_of_them.judged(first, is_available=True)
    assert all_of_them.get(first.name) == other
    all_of_them.remove(first.name)
    all_of_them.judged(first, is_available=True)
    assert all_of_them.get(first.name) is None


def test_groups_and_versions_stand_in_the_order_of_their_priority() -> None:
    all_of_them = Registrations()
    for each in (
        a_registration(version="v1beta1", priority=(900, 20)),
        a_registration(version="v2", priority=(1500, 15)),
        a_registration(version="v1", priority=(1000, 15)),
        a_registration(group="zoo.example", priority=(17650, 1)),
    ):
        all_of_them.put(each)
    listed = Directory(all_of_them).groups(Catalog().groups)
    names = [each.name for each in listed]
    assert names[0] == "apiregistration.k8s.io"
    assert names.index("zoo.example") == names.index("authentication.k8s.io") + 1
    assert names[-1] == "toys.example"
    assert listed[-1].versions == ["v1beta1", "v2", "v1"]


def test_what_nobody_described_yet_is_stale() -> None:
    all_of_them, descriptions = Registrations(), Descriptions()
    all_of_them.put(a_registration())
    directory = Directory(all_of_them, descriptions)
    assert directory.described("toys.example", "v1") == {"version": "v1", "freshness": "Stale"}
    assert directory.described("apps", "v1") is None
    before = directory.generation
    toys = {"resource": "toys"}
    descriptions.put("v1.toys.example", Description(resources=(toys,), freshness=CURRENT))
    assert directory.generation != before
    assert directory.described("toys.example", "v1") == {
        "version": "v1",
        "resources": [toys],
        "freshness": "Current",
    }


@pytest.mark.parametrize("before", [{}, {"status": {}}, {"status": {"conditions": []}}])
def test_a_condition_is_added(before: dict[str, object]) -> None:
    found = availability.changed(before, availability.PASSED, "now")
    assert found is not None
    assert found["status"]["conditions"] == [
        {
            "type": "Available",
            "status": "True",
            "reason": "Passed",
            "message": "all checks passed",
            "lastTransitionTime": "now",
        }
    ]


def test_only_another_status_is_a_transition() -> None:
    first = availability.changed({}, availability.unanswered("nobody"), "then")
    assert first is not None
    assert availability.changed(first, availability.unanswered("nobody"), "now") is None
    second = availability.changed(first, availability.unanswered("still nobody"), "now")
    assert second is not None
    assert second["status"]["conditions"][0]["lastTransitionTime"] == "then"
    third = availability.changed(second, availability.PASSED, "now")
    assert third is not None
    assert third["status"]["conditions"][0]["lastTransitionTime"] == "now"


def test_a_condition_of_others_is_left_alone() -> None:
    other = {"type": "Polished", "status": "True"}
    found = availability.changed({"status": {"conditions": [other]}}, availability.PASSED, "now")
    assert found is not None
    assert found["status"]["conditions"][0] == other
    assert len(found["status"]["conditions"]) == 2
