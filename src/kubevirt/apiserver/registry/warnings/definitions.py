"""CRDs with formats that nobody checks: their authors may rely on them."""

from collections.abc import Iterator, Mapping
from typing import Any

from kubevirt.apiserver.registry.rules.definition_versions import Parts
from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema.formats import check_of
from kubevirt.apiserver.schema.gotext import quoted

Source = Mapping[str, Any]


def of_definition(new: Object, old: Object | None) -> Iterator[str]:
    known = set(_unknown_formats(old)) if old is not None else set()
    yield from (
        f"unrecognized format {quoted(each)}" for each in _unknown_formats(new) if each not in known
    )


def _unknown_formats(object_: Object) -> Iterator[str]:
    for _, said in Parts(object_["spec"]["versions"]).of("schema"):
        yield from _of_schema(said.get("openAPIV3Schema") or {})


def _of_schema(schema: Source) -> Iterator[str]:
    name = schema.get("format", "")
    if name and schema.get("type") == "string" and check_of(name) is None:
        yield name
    for below in _below(schema):
        yield from _of_schema(below)


def _below(schema: Source) -> Iterator[Source]:
    for part in ("items", "not", "additionalProperties"):
        if isinstance(schema.get(part), dict):
            yield schema[part]
    for part in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(part) or ()
    yield from (schema.get("properties") or {}).values()
