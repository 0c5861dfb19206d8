"""Writes the table of what Go keeps of the fields of built-in kinds, from the sources of Kubernetes' API.

    python -m scripts.builtin_presence ~/go/pkg/mod/k8s.io 0.34.4

OpenAPI does not tell a field that Go leaves out when it is empty from one that it always writes, nor a
number from a pointer to one, whose zero is kept. The tags and types of the Go structs do.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from kubevirt.apiserver.kinds import builtin

TABLE = Path("src/kubevirt/apiserver/kinds/builtin/presence.txt")
SOURCES = {
    "meta": "apimachinery@v{}/pkg/apis/meta/v1/types.go",
    "core": "api@v{}/core/v1/types.go",
    "admissionregistration": "api@v{}/admissionregistration/v1/types.go",
    "apiextensions": "apiextensions-apiserver@v{}/pkg/apis/apiextensions/v1/types*.go",
    "apiregistration": "kube-aggregator@v{}/pkg/apis/apiregistration/v1/types.go",
    "apps": "api@v{}/apps/v1/types.go",
    "authentication": "api@v{}/authentication/v1/types.go",
    "authorization": "api@v{}/authorization/v1/types.go",
    "coordination": "api@v{}/coordination/v1/types.go",
    "discovery": "api@v{}/discovery/v1/types.go",
    "events": "api@v{}/events/v1/types.go",
    "policy": "api@v{}/policy/v1/types.go",
    "rbac": "api@v{}/rbac/v1/types.go",
    "scheduling": "api@v{}/scheduling/v1/types.go",
    "storage": "api@v{}/storage/v1/types.go",
}
ZERO_OF_STRUCT = {"Quantity": '"0"', "IntOrString": "0", "Time": "null", "MicroTime": "null"}
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(
    r"^\t(?:\w+ +)?(?P<type>[^\s`]+)\s+`[^`]*json:\"(?P<tag>[^\"]*)\"", re.MULTILINE
)
_ALIAS = re.compile(r"^type (\w+) (\S+)$", re.MULTILINE)


class Sources:
    """The structs of all files, and what their names stand for."""

    def __init__(self, modules: Path, version: str) -> None:
        texts = {
            group: "".join(each.read_text() for each in modules.glob(path.format(version)))
            for group, path in SOURCES.items()
        }
        self._aliases = {name: of for text in texts.values() for name, of in _ALIAS.findall(text)}
        self._structs = {
            (group, name): body
            for group, text in texts.items()
            for name, body in _STRUCT.findall(text)
        }

    def lines(self) -> Iterator[str]:
        known = builtin.types()
        for name in sorted(known):
            group, _, short = name.rpartition(".")
            for owner in [group] if group else SOURCES:
                if (owner, short) in self._structs and (
                    group or f"{owner}.{short}" not in set(known)
                ):
                    yield from self._of(
                        name, owner, short, {field.name for field in known[name].fields}
                    )
                    break

    def _of(self, name: str, group: str, short: str, fields: set[str]) -> Iterator[str]:
        said = {
            field: mark for field, mark in self._fields(group, short) if mark and field in fields
        }
        if said:
            yield name
            yield from (f"  {field:<27} {mark}" for field, mark in sorted(said.items()))

    def _fields(self, group: str, name: str) -> Iterator[tuple[str, str]]:
        for found in _FIELD.finditer(self._structs[group, name]):
            field, _, options = found["tag"].partition(",")
            type_ = found["type"]
            if options == "inline":
                inner = type_.rpartition(".")[2]
                yield from self._fields(group, inner) if (group, inner) in self._structs else ()
            elif field != "-":
                yield field, self._mark(type_, options.split(","))

    def _mark(self, type_: str, options: list[str]) -> str:
        """Empty for a field that is left out when it is empty."""
        is_omitted = "omitempty" in options
        if type_.startswith("*"):
            if not is_omitted:
                return "null"
            is_struct = self._zero(type_[1:]) == "{}"
            return "" if is_struct else "kept"
        zero = self._zero(type_)
        is_list = type_.startswith(("[", "map["))
        is_struct = zero == "{}" or type_.rpartition(".")[2] in ZERO_OF_STRUCT
        is_struct = is_struct and not is_list
        if "omitzero" in options or (is_omitted and not is_struct):
            return ""
        return zero

    def _zero(self, type_: str) -> str:
        if type_.startswith(("[", "map[")):
            return "null"
        short = type_.rpartition(".")[2]
        if short in ZERO_OF_STRUCT:
            return ZERO_OF_STRUCT[short]
        if short in self._aliases and type_ != self._aliases[short]:
            return self._zero(self._aliases[short])
        if short in {"RawExtension", "JSON", "FieldsV1"}:
            return "null"
        plain = {"string": '""', "UID": '""', "bool": "false"}
        is_number = short.startswith(("int", "uint", "float"))
        return plain.get(short, "0" if is_number else "{}")


def main(modules: str, version: str) -> None:
    TABLE.write_text("".join(f"{line}\n" for line in Sources(Path(modules), version).lines()))


if __name__ == "__main__":
    main(*sys.argv[1:])
