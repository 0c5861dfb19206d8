"""Objects go out as they lie in the store, but for their beginning."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubevirt.apiserver.kinds import builtin
from kubevirt.apiserver.registry import stored

MAPS = next(each for each in builtin.kinds() if each.names.plural == "configmaps")
HEAD = stored.head(MAPS, MAPS.versions[0])

TEXTS = st.text() | st.sampled_from(['"metadata":{', '\\"metadata":{', '{"metadata":{}}'])
VALUES = st.recursive(
    TEXTS | st.integers(0, 9) | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def a_map(**parts: Any) -> dict[str, Any]:
    metadata = {"name": "one", "resourceVersion": "5"}
    return {"data": {}, "metadata": metadata, "kind": "ConfigMap", "apiVersion": "v1", **parts}


def test_the_version_is_not_stored() -> None:
    assert b"resourceVersion" not in stored.encoded(a_map())


@given(VALUES, VALUES)
def test_whatever_is_in_an_object_it_comes_out_with_its_version(one: Any, two: Any) -> None:
    object_ = a_map(data=one, more=two)
    value = stored.encoded(object_)
    assert msgspec.json.decode(stored.shown(value, 5, HEAD)) == object_
    assert stored.decoded(value, 5, "v1") == object_
    partial = msgspec.json.decode(stored.metadata_shown(value, 5))
    assert partial == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": object_["metadata"],
    }


@pytest.mark.parametrize("revision", [0, 7])
def test_what_was_never_stored_has_no_version(revision: int) -> None:
    shown = msgspec.json.decode(stored.shown(stored.encoded(a_map()), revision, HEAD))
    assert shown["metadata"].get("resourceVersion") == ("7" if revision else None)


def test_items_of_built_in_lists_do_not_say_what_they_are() -> None:
    head = stored.head(MAPS, MAPS.versions[0], is_named=False)
    shown = msgspec.json.decode(stored.shown(stored.encoded(a_map()), 5, head))
    assert "kind" not in shown
    assert shown["metadata"]["name"] == "one"
