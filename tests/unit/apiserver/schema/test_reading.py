"""Bodies: decoded, pruned, defaulted, without nulls that mean nothing."""

from typing import Any

import msgspec
import pytest

from kubevirt.apiserver.schema import decoding
from kubevirt.apiserver.schema.custom import CustomSchema
from kubevirt.apiserver.schema.defaulting import default, drop_nulls
from kubevirt.apiserver.schema.metadata import Undecodable
from kubevirt.apiserver.schema.pruning import prune
from kubevirt.apiserver.schema.structural import compile_schema

ITEM = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "kind": {"type": "string", "default": "box"}},
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "size": {"type": "integer", "default": 3},
                "maybe": {"type": "string", "nullable": True},
                "items": {"type": "array", "items": ITEM},
                "pairs": {"type": "object", "additionalProperties": ITEM},
                "free": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": True,
                    "properties": {"known": ITEM},
                },
                "open": {"type": "object", "additionalProperties": True},
                "frees": {
                    "type": "array",
                    "x-kubernetes-preserve-unknown-fields": True,
                    "items": {"type": "object", "properties": {"known": ITEM}},
                },
                "guest": {
                    "type": "object",
                    "x-kubernetes-embedded-resource": True,
                    "properties": {"spec": ITEM},
                },
            },
        }
    },
}
COMPILED = compile_schema(SCHEMA)


def a_body(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "x"}, "spec": spec}


@pytest.mark.parametrize(
    ("spec", "kept", "dropped"),
    [
        ({"size": 1}, {"size": 1}, []),
        ({"size": 1, "x": {"y": 1}}, {"size": 1}, ["spec.x"]),
        ({"items": [{"name": "a", "x": 1}]}, {"items": [{"name": "a"}]}, ["spec.items[0].x"]),
        ({"pairs": {"k": {"x": 1}}}, {"pairs": {"k": {}}}, ["spec.pairs.k.x"]),
        (
            {"free": {"a": {"b": 1}, "known": {"x": 1}}},
            {"free": {"a": {"b": 1}, "known": {}}},
            ["spec.free.known.x"],
        ),
        ({"open": {"a": 1, "b": {"c": 1}}}, {"open": {"a": 1, "b": {}}}, ["spec.open.b.c"]),
        (
            {"frees": [{"a": 1, "known": {"x": 1}}]},
            {"frees": [{"a": 1, "known": {}}]},
            ["spec.frees[0].known.x"],
        ),
        (
            {"guest": {"kind": "G", "metadata": {"any": 1}, "x": 1, "spec": {"name": "a"}}},
            {"guest": {"kind": "G", "metadata": {"any": 1}, "spec": {"name": "a"}}},
            ["spec.guest.x"],
        ),
    ],
)
def test_what_the_schema_does_not_know_is_dropped_and_named(
    spec: dict[str, Any], kept: dict[str, Any], dropped: list[str]
) -> None:
    pruned, paths = prune(a_body(**spec), COMPILED)
    assert pruned == a_body(**kept)
    assert paths == dropped


def test_an_object_that_loses_nothing_is_the_same() -> None:
    body = a_body(size=1, items=[{"name": "a"}])
    assert prune(body, COMPILED)[0] is body
    assert drop_nulls(body, COMPILED) is body


def test_without_a_schema_nothing_is_known() -> None:
    assert prune(a_body(size=1) | {"x": 1}, None)[1] == ["spec", "x"]


def test_defaults_are_filled_in_at_every_depth() -> None:
    body = a_body(items=[{"name": "a"}], pairs={"k": {}})
    assert default(body, COMPILED)["spec"] == {
        "items": [{"name": "a", "kind": "box"}],
        "pairs": {"k": {"kind": "box"}},
        "size": 3,
    }
    assert body == a_body(items=[{"name": "a"}], pairs={"k": {}})


def test_a_default_replaces_a_null_that_may_not_be() -> None:
    assert default(a_body(size=None, maybe=None), COMPILED)["spec"] == {"size": 3, "maybe": None}


def test_nulls_that_nothing_allows_or_replaces_are_dropped() -> None:
    body = a_body(size=None, maybe=None, items=None, pairs={"k": {"name": None}}, free={"a": None})
    kept: dict[str, Any] = {"size": None, "maybe": None, "pairs": {"k": {}}, "free": {"a": None}}
    assert drop_nulls(body, COMPILED)["spec"] == kept


def test_metadata_is_read_as_go_reads_it() -> None:
    body = a_body()
    body["metadata"] = {
        "name": "x",
        "labels": {"a": None},
        "annotations": {},
        "finalizers": [],
        "managedFields": [],
        "deletionGracePeriodSeconds": 0,
        "generation": 0,
        "creationTimestamp": "2026-01-01T01:00:00.5+01:00",
        "unknown": 1,
        "ownerReferences": [{"uid": "1", "controller": False, "more": 1}],
    }
    read = CustomSchema(SCHEMA).read(body)
    assert read.object["metadata"] == {
        "name": "x",
        "labels": {"a": ""},
        "deletionGracePeriodSeconds": 0,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "ownerReferences": [
            {"apiVersion": "", "kind": "", "name": "", "uid": "1", "controller": False}
        ],
    }
    assert read.unknown == ("metadata.ownerReferences[0].more", "metadata.unknown")


def test_metadata_of_a_wrong_type_is_refused() -> None:
    with pytest.raises(Undecodable, match=r"Go struct field ObjectMeta\.labels of type string"):
        CustomSchema(SCHEMA).read(a_body() | {"metadata": {"labels": {"a": 1}}})


def test_numbers_become_what_go_makes_of_them() -> None:
    body = b"[1, 1.0, 1e3, 1.5, -0.0, 9223372036854775808, 1e30]"
    assert decoding.decode(body) == [1, 1, 1000, 1.5, 0, 9223372036854775808, 1e30]
    kinds = [type(each) for each in decoding.decode(body)]
    assert kinds == [int, int, int, float, int, int, float]


def test_a_number_that_is_too_large_is_refused() -> None:
    with pytest.raises(msgspec.DecodeError, match="cannot unmarshal number 1e400"):
        decoding.decode(b'{"a":1e400}')


@pytest.mark.parametrize(
    ("body", "twice"),
    [
        (b'{"a":1,"b":2}', []),
        (b'{"a":1,"b":2,"a":3,"a":4}', ["a"]),
        (b'{"a":[{"b":1,"b":2},{"b":1}],"c":{"d":{},"d":1}}', ["a[0].b", "c.d"]),
        (b'{"a" : 1,\n"a"\t: 2}', ["a"]),
        (b'{"text":"\\"a\\":1,\\"a\\":2","b":{"text":1}}', []),
        (b'{"a\\\\":1,"a\\\\":2}', ["a\\"]),
        (b'{"\\u0061":1,"a":2}', ["a"]),
        (b"[1,[],{}]", []),
    ],
)
def test_fields_that_are_there_twice_are_found(body: bytes, twice: list[str]) -> None:
    assert decoding.duplicate_fields(body, decoding.decode(body)) == twice


def test_a_hundred_duplicates_are_enough() -> None:
    body = ("{" + ",".join(f'"a{i}":1,"a{i}":2' for i in range(200)) + "}").encode()
    assert len(decoding.duplicate_fields(body, decoding.decode(body))) == 100


def test_strict_decoding_names_everything_at_once() -> None:
    words = 'strict decoding error: duplicate field "a", unknown field "b"'
    assert decoding.strict_error(["a"], ["b"]) == words
    assert decoding.strict_error([], []) == ""
