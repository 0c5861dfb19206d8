"""The kinds that are there before any CRD, from tables that a real server wrote.

How their fields are numbered in protobuf is a third table, for those who read it.
"""

import re
from collections.abc import Iterator
from functools import cache, partial
from importlib import resources
from typing import Final

from kubevirt.apiserver.kinds import notation
from kubevirt.apiserver.kinds.kind import EVERY_VERB, Kind, Names, Schema, Version

_OPTION = re.compile(r"(\w+)\(([^)]*)\)")
_TYPES_OF_GROUP = {"events.k8s.io": "events."}
"""Where a kind's type does not go by the kind's own name; see `_short_names` of the script."""
_STORED_IN = {"events.k8s.io": ""}
"""Groups that show objects of another."""


@cache
def types() -> notation.Types:
    return notation.Types(notation.parse(_table("types.txt")))


_OUTDATED: Final = {
    ("", "endpoints"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
}
"""Kinds with successors, and what everybody who asks for them is told."""


@cache
def kinds() -> tuple[Kind, ...]:
    return tuple(_kinds(_table("resources.txt")))


BELOW: Final = {
    ("authentication.k8s.io/v1", "TokenRequest"): "TokenRequest",
    ("autoscaling/v1", "Scale"): "Scale",
    ("policy/v1", "Eviction"): "Eviction",
}
"""Kinds that are sent to subresources only, with their types."""


def type_name(api_version: str, kind: str) -> str:
    """The entry of a kind in the table of types; empty if there is no such kind."""
    return _type_names().get((api_version, kind), "")


@cache
def _type_names() -> dict[tuple[str, str], str]:
    found = dict(BELOW)
    for kind in kinds():
        for version in kind.versions:
            api_version = f"{kind.group}/{version.name}" if kind.group else version.name
            found[api_version, kind.names.kind] = version.type_name
    return found


def wire_table() -> str:
    """In the notation of `apiserver.wire.table`."""
    return _table("wire.txt")


def _table(name: str) -> str:
    return (resources.files(__name__) / name).read_text(encoding="utf-8")


def _kinds(text: str) -> Iterator[Kind]:
    group = version = ""
    for line in text.splitlines():
        if line.startswith(" "):
            yield _kind(group, version, line)
        else:
            group, version = line.split()
            group = "" if group == "core" else group


def _kind(group: str, version: str, line: str) -> Kind:
    plural, singular, kind, scope, *_ = line.split()
    options = {name: tuple(values.split(",")) for name, values in _OPTION.findall(line)}
    type_name = _TYPES_OF_GROUP.get(group, "") + kind
    return Kind(
        group=group,
        namespaced=scope == "namespaced",
        stored_in=_STORED_IN.get(group),
        verbs=options.get("verbs", EVERY_VERB),
        names=Names(
            plural=plural,
            singular=singular,
            kind=kind,
            list_kind=f"{kind}List",
            short=options.get("short", ()),
            categories=options.get("in", ()),
        ),
        versions=(
            Version(
                name=version,
                schema=partial(_schema, type_name),
                type_name=type_name,
                subresources=options.get("below", ()),
                warning=_OUTDATED.get((group, plural), ""),
            ),
        ),
    )


def _schema(type_name: str) -> Schema:
    return types().schema(type_name)
