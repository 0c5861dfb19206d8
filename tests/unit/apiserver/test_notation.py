"""Types in a line each, and what they mean as schemas."""

import pytest

from kubevirt.apiserver.kinds import builtin
from kubevirt.apiserver.kinds.notation import NotationError, Types, parse

TABLE = """
# Rooms of a house.
Room
  colour     string ="white" in(white,red)
  door       Door!
  lamps      [Lamp] map(socket,side) merge(socket)
  labels     {string} atomic
  floors     [[int32]] atomic
  owner      Owner granular
  tags       [string] set merge
Door
Lamp
  socket     string!
  side       int32
  on         boolean =true
Owner atomic
  name       string
Tree
  below      [Tree]
  height     quantity
"""


@pytest.fixture
def types() -> Types:
    return Types(parse(TABLE))


def test_a_type_is_an_object_with_its_fields(types: Types) -> None:
    assert types.schema("Lamp") == {
        "type": "object",
        "properties": {
            "socket": {"type": "string"},
            "side": {"type": "integer", "format": "int32"},
            "on": {"type": "boolean", "default": True},
        },
        "required": ["socket"],
    }


def test_options_become_what_kubernetes_calls_them(types: Types) -> None:
    room = types.schema("Room")
    assert room["required"] == ["door"]
    fields = room["properties"]
    assert fields["colour"] == {"type": "string", "enum": ["white", "red"], "default": "white"}
    assert fields["door"] == {"type": "object"}
    assert fields["labels"]["additionalProperties"] == {"type": "string"}
    assert fields["labels"]["x-kubernetes-map-type"] == "atomic"
    assert fields["floors"]["items"]["items"] == {"type": "integer", "format": "int32"}
    assert fields["tags"]["x-kubernetes-list-type"] == "set"
    assert fields["tags"]["x-kubernetes-patch-strategy"] == "merge"


def test_a_keyed_list_has_its_keys_for_both_ways_of_merging(types: Types) -> None:
    lamps = types.schema("Room")["properties"]["lamps"]
    assert lamps["x-kubernetes-list-type"] == "map"
    assert lamps["x-kubernetes-list-map-keys"] == ["socket", "side"]
    assert lamps["x-kubernetes-patch-strategy"] == "merge"
    assert lamps["x-kubernetes-patch-merge-key"] == "socket"


def test_a_field_may_overrule_how_its_type_merges(types: Types) -> None:
    assert types.schema("Owner")["x-kubernetes-map-type"] == "atomic"
    assert types.schema("Room")["properties"]["owner"]["x-kubernetes-map-type"] == "granular"


def test_a_type_inside_itself_ends(types: Types) -> None:
    below = types.schema("Tree")["properties"]["below"]["items"]
    assert below["x-kubernetes-preserve-unknown-fields"] is True


def test_a_line_that_means_nothing_is_named() -> None:
    with pytest.raises(NotationError, match="line 2: colour has no type"):
        parse("Room\n  colour\n")


def test_every_built_in_kind_has_a_shape_with_metadata() -> None:
    for kind in builtin.kinds():
        fields = kind.versions[0].schema()["properties"]
        assert {"apiVersion", "kind", "metadata"} <= fields.keys(), kind.group_resource
        assert (
            fields["metadata"]["properties"]["ownerReferences"]["x-kubernetes-list-type"] == "map"
        )


def test_kinds_are_found_by_their_names() -> None:
    by_name = {kind.group_resource: kind for kind in builtin.kinds()}
    assert len(by_name) == len(builtin.kinds())
    pods = by_name["pods"]
    assert pods.key("default", "web") == "/registry/core/pods/default/web"
    assert by_name["nodes"].key("", "node01") == "/registry/core/nodes/node01"
    assert pods.names.short == ("po",)
    assert {"attach", "binding", "eviction", "exec", "log", "status"} <= set(
        pods.versions[0].subresources
    )
    assert by_name["tokenreviews.authentication.k8s.io"].verbs == ("create",)
    events = by_name["events.events.k8s.io"]
    assert "reportingController" in events.versions[0].schema()["properties"]
    assert events.prefix == by_name["events"].prefix
