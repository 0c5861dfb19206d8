"""Names, and what may not change of an object once it exists."""

from typing import Any

import pytest

from kubevirt.apiserver.schema import metadata, names

OLD: dict[str, Any] = {
    "name": "a",
    "namespace": "default",
    "uid": "1",
    "resourceVersion": "7",
    "generation": 3,
    "creationTimestamp": "2026-01-01T00:00:00Z",
}


def said(new: dict[str, Any], old: dict[str, Any]) -> list[str]:
    return [str(error) for error in metadata.errors_of_change(new, old)]


def test_nothing_is_wrong_with_no_change() -> None:
    assert said(OLD, OLD) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "b"}, 'metadata.name: Invalid value: "b": field is immutable'),
        ({"uid": "2"}, 'metadata.uid: Invalid value: "2": field is immutable'),
        ({"generation": 2}, "metadata.generation: Invalid value: 2: must not be decremented"),
        (
            {"resourceVersion": ""},
            'metadata.resourceVersion: Invalid value: "": must be specified for an update',
        ),
        (
            {"deletionGracePeriodSeconds": 5},
            "metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable",
        ),
    ],
)
def test_what_an_object_is_never_changes(change: dict[str, Any], message: str) -> None:
    assert said({**OLD, **change}, OLD) == [message]


def test_no_finalizer_is_added_to_what_is_going_away() -> None:
    going = {**OLD, "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a/b"]}
    assert said({**going, "finalizers": []}, going) == []
    [message] = said({**going, "finalizers": ["a/b", "c/d"]}, going)
    assert message.endswith('found new finalizers []string{"c/d"}')


def test_a_prefix_may_end_with_a_dash() -> None:
    assert names.as_prefix(names.subdomain)("web-") == []
    assert names.subdomain("web-")
    [error] = metadata.errors_of_new(
        {"name": "x", "generateName": "A_b-"}, is_namespaced=False, name_rule=names.subdomain
    )
    assert error.field == "metadata.generateName"


def test_an_object_has_a_name_and_a_namespace_where_it_needs_one() -> None:
    found = metadata.errors_of_new({}, is_namespaced=True, name_rule=names.subdomain)
    assert [str(error) for error in found] == [
        "metadata.name: Required value: name or generateName is required",
        "metadata.namespace: Required value",
    ]
    [error] = metadata.errors_of_new(
        {"name": "x", "namespace": "y"}, is_namespaced=False, name_rule=names.subdomain
    )
    assert str(error) == "metadata.namespace: Forbidden: not allowed on this type"


def test_entries_of_managed_fields_are_judged() -> None:
    entries = [
        {"operation": "Guess", "fieldsType": "X", "manager": "a\n", "subresource": "s" * 257}
    ]
    found = metadata.errors_of_new(
        {"name": "x", "managedFields": entries}, is_namespaced=False, name_rule=names.subdomain
    )
    assert [error.field for error in found] == [
        "metadata.managedFields[0].operation",
        "metadata.managedFields[0].fieldsType",
        "metadata.managedFields[0].manager",
        "metadata.managedFields[0].subresource",
    ]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("a.b", ["must not contain dots"]),
        ("a", []),
        ("a" * 64, ["must be no more than 63 characters"]),
    ],
)
def test_labels_of_names(name: str, wrong: list[str]) -> None:
    assert names.label(name) == wrong


def test_segments_of_paths() -> None:
    assert names.path_segment("..") == ["may not be '..'"]
    assert names.path_segment("a/b%") == ["may not contain '/'", "may not contain '%'"]
