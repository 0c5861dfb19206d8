"""What callees say of themselves, read whatever it is."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubevirt.apiserver.aggregation import description

NAMES = [
    *("items", "metadata", "name", "versions", "version", "resources", "resource", "scope"),
    *("paths", "definitions", "subresources", "verbs", "kind", "namespaced"),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=15,
)


@given(JSON)
def test_nonsense_is_not_passed_on(said: object) -> None:
    body = msgspec.json.encode(said)
    for found in (
        description.of_aggregated(body, "toys.example", "v1"),
        description.of_legacy(body),
    ):
        assert all(isinstance(each["resource"], str) for each in found or ())
    assert description.open_api_paths(body, "/apis/toys.example/v1") == {}
    own: dict[str, dict[str, object]] = {"paths": {"/a": {}}, "definitions": {"A": {}}}
    merged = description.merged_v2(own, body, "/apis/toys.example/v1")
    assert merged["paths"] == own["paths"]
    assert merged["definitions"]["A"] == {}


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 5000])
def test_what_is_no_json_says_nothing(body: bytes) -> None:
    assert description.of_aggregated(body, "toys.example", "v1") is None
    assert description.of_legacy(body) is None


def test_a_part_without_a_whole_is_listed_below_a_whole() -> None:
    """KubeVirt serves nothing of virtual machines but what is below them."""
    console = {"name": "vms/console", "namespaced": True, "kind": "VM", "verbs": ["get"]}
    body = msgspec.json.encode({"resources": [console]})
    kind = {"group": "", "version": "", "kind": "VM"}
    assert description.of_legacy(body) == (
        {
            "resource": "vms",
            "responseKind": {"group": "", "version": "", "kind": ""},
            "scope": "Namespaced",
            "singularResource": "",
            "verbs": None,
            "subresources": [{"subresource": "console", "responseKind": kind, "verbs": ["get"]}],
        },
    )


def test_nobody_speaks_for_others() -> None:
    path = "apis/toys.example/v1"
    good = {"serverRelativeURL": f"/openapi/v3/{path}?hash=1"}
    for said in ({path: good, "api/v1": {"serverRelativeURL": "/"}}, {path: good}):
        found = description.open_api_paths(msgspec.json.encode({"paths": said}), f"/{path}")
        assert found == {path: good}
    evil = {"serverRelativeURL": "//evil.example/"}
    body = msgspec.json.encode({"paths": {path: evil}})
    assert description.open_api_paths(body, f"/{path}") == {}
    other = {
        "paths": {"/apis/toys.example/v1/toys": {}, "/api/v1/pods": {"get": "evil"}},
        "definitions": {"Pod": {"type": "string"}, "Toy": {"type": "object"}},
    }
    own = {"paths": {"/api/v1/pods": {}}, "definitions": {"Pod": {"type": "object"}}}
    merged = description.merged_v2(own, msgspec.json.encode(other), "/apis/toys.example/v1")
    assert merged == {
        "paths": {"/api/v1/pods": {}, "/apis/toys.example/v1/toys": {}},
        "definitions": {"Pod": {"type": "object"}, "Toy": {"type": "object"}},
    }
