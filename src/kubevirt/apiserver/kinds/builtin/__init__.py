"""The kinds that are there before any CRD, from two tables that a real server wrote."""

import re
from collections.abc import Iterator
from functools import cache, partial
from importlib import resources

from kubevirt.apiserver.kinds import notation
from kubevirt.apiserver.kinds.kind import EVERY_VERB, Kind, Names, Schema, Version

_OPTION = re.compile(r"(\w+)\(([^)]*)\)")
_TYPES_OF_GROUP = {"events.k8s.io": "events."}
"""Where a kind's type does not go by the kind's own name; see `_short_names` of the script."""


@cache
def types() -> notation.Types:
    return notation.Types(notation.parse(_table("types.txt")))


@cache
def kinds() -> tuple[Kind, ...]:
    return tuple(_kinds(_table("resources.txt")))


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
            ),
        ),
    )


def _schema(type_name: str) -> Schema:
    return types().schema(type_name)
