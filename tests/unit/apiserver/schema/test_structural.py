"""Compiled schemas: what they keep, what they share, how fast they are made."""

import gc
import json
from pathlib import Path
from typing import Any

from kubevirt.api import crds
from kubevirt.apiserver.schema.structural import Pool, compile_schema

NAMED = {"type": "object", "properties": {"name": {"type": "string"}}}


def _schemas() -> list[dict[str, Any]]:
    folder = Path(crds.__file__).parent
    return [
        version["schema"]["openAPIV3Schema"]
        for file in sorted(folder.glob("*.json"))
        for version in json.loads(file.read_bytes())["spec"]["versions"]
    ]


def test_schemas_that_say_the_same_are_one() -> None:
    pool = Pool()
    one = compile_schema({"type": "object", "properties": {"a": NAMED, "b": NAMED}}, pool=pool)
    other = compile_schema({"type": "object", "properties": {"c": NAMED}}, pool=pool)
    assert one.properties["a"] is one.properties["b"] is other.properties["c"]


def test_the_crds_of_the_house_share_most_of_their_nodes() -> None:
    pool = Pool()
    compiled = [compile_schema(schema, pool=pool) for schema in _schemas()]
    assert len(compiled) > 20
    assert len(pool) < 600


def test_a_pool_forgets_what_nobody_uses() -> None:
    pool = Pool()
    schema = compile_schema(NAMED, pool=pool)
    assert len(pool) == 2
    del schema
    gc.collect()
    assert len(pool) == 0


def test_descriptions_make_no_difference() -> None:
    pool = Pool()
    plain, described = {"type": "string"}, {"type": "string", "description": "x", "title": "y"}
    assert compile_schema(plain, pool=pool) is compile_schema(described, pool=pool)


def test_true_and_one_are_two_defaults() -> None:
    pool = Pool()
    one = compile_schema({"x-kubernetes-int-or-string": True, "default": 1}, pool=pool)
    true = compile_schema({"x-kubernetes-int-or-string": True, "default": True}, pool=pool)
    assert one is not true


def test_a_definition_may_contain_itself() -> None:
    definitions = {
        "a.Tree": {
            "type": "object",
            "properties": {
                "children": {"type": "array", "items": {"$ref": "#/components/schemas/a.Tree"}},
                "self": {
                    "allOf": [{"$ref": "#/components/schemas/a.Tree"}],
                    "x-kubernetes-map-type": "atomic",
                },
            },
        }
    }
    tree = compile_schema({"$ref": "#/components/schemas/a.Tree"}, definitions=definitions)
    assert tree.name == "Tree"
    assert tree.properties["children"].items is tree
    assert tree.properties["self"].map_type == "atomic"
    assert tree.map_type is None


def test_what_a_subtree_lacks_is_known_at_its_root() -> None:
    schema = compile_schema(
        {
            "type": "object",
            "properties": {
                "plain": NAMED,
                "deep": {"type": "array", "items": {"type": "string", "default": "x"}},
            },
        }
    )
    assert schema.has_defaults
    assert schema.properties["deep"].has_defaults
    assert not schema.properties["plain"].has_defaults
    assert not schema.has_rules
