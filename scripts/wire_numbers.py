"""Reads from Kubernetes' own sources how built-in kinds are written in protobuf.

    numbers and types     generated.proto of each package
    names in JSON         the tags of the Go structs beside it, which also say what is left out when
                          it is empty, what is a pointer, and what is part of the struct around it

The sources are those that the cluster provider is built from, found in Go's module cache. Nothing but
names, numbers and types is taken.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from clusterup import binaries, settings

PACKAGES = {
    "k8s.io/api": (
        "admissionregistration/v1 apps/v1 authentication/v1 authorization/v1 autoscaling/v1"
        " coordination/v1 core/v1 discovery/v1 events/v1 policy/v1 rbac/v1 scheduling/v1 storage/v1"
    ),
    "k8s.io/apiextensions-apiserver": "pkg/apis/apiextensions/v1",
    "k8s.io/apimachinery": "pkg/apis/meta/v1 pkg/api/resource pkg/runtime pkg/util/intstr",
    "k8s.io/kube-aggregator": "pkg/apis/apiregistration/v1",
}
"""By Go module."""

SPECIAL = {
    "ExtraValue": "strings",
    "FieldsV1": "raw",
    "IntOrString": "int-or-string",
    "JSON": "raw",
    "JSONSchemaPropsOrArray": "schema-or-array",
    "JSONSchemaPropsOrBool": "schema-or-bool",
    "JSONSchemaPropsOrStringArray": "schema-or-strings",
    "MicroTime": "micro-time",
    "Quantity": "quantity",
    "RawExtension": "raw",
    "Time": "time",
}
"""Messages that are no objects in JSON."""

PLAIN = {"bool", "bytes", "double", "int32", "int64", "string"}

_PACKAGE = re.compile(r"^package (?P<name>[\w.]+);")
_MESSAGE = re.compile(r"^message (?P<name>\w+) \{")
_PROTO_FIELD = re.compile(
    r"^  (?:(?P<label>optional|repeated) (?P<type>[\w.]+)|map<string, (?P<values>[\w.]+)>)"
    r" \w+ = (?P<number>\d+);"
)
_STRUCT = re.compile(r"^type (?P<name>\w+) struct \{$(?P<body>.*?)^\}$", re.MULTILINE | re.DOTALL)
_GO_FIELD = re.compile(
    r'^\t(?:\w+ +)?(?P<type>\S+) +`.*?json:"(?P<json>[^"]*)".*?protobuf:"\w+,(?P<number>\d+)',
    re.MULTILINE,
)


class SourcesMissingError(Exception):
    """The provider has been built elsewhere, and Go's module cache is empty."""


class Field(NamedTuple):
    """Of a message, as generated.proto has it."""

    number: int
    type: str
    wrapping: str


class Tag(NamedTuple):
    """Of the field of a Go struct."""

    json: str
    omits: bool
    is_inline: bool
    is_pointer: bool
    is_struct_left_out: bool


def wire_table(roots: Iterable[tuple[str, str]], known: set[str]) -> str:
    """All messages that kinds consist of. `roots` are the kinds, each behind the last word of its
    package; `known` are the names of `types.txt`, which are used here too.
    """
    messages, tags = _read_sources()
    wanted = {f".{package}.v1.{kind}" for package, kind in roots}
    left = [full for full in messages if any(full.endswith(each) for each in wanted)]
    found: dict[str, tuple[str, str]] = {}
    while left:
        full = left.pop()
        if full in found:
            continue
        lines = ""
        for field in messages[full]:
            tag = tags.get((full, field.number))
            if tag is None:  # there for those who wrote it long ago; JSON never shows it
                continue
            is_message = field.type in messages and _last(field.type) not in SPECIAL
            lines += _line(field, _short(field.type, known), tag)
            left += [field.type] if is_message else []
        found[full] = (_short(full, known), lines)
    if len({name for name, _ in found.values()}) < len(found):
        raise ValueError("two messages have one name")
    return "".join(f"{name}\n{lines}" for name, lines in sorted(found.values()))


def _line(field: Field, type_: str, tag: Tag) -> str:
    shape = f"{field.wrapping}{type_}{field.wrapping.translate(_CLOSING)}"
    name = "+" if tag.is_inline else tag.json
    return f"  {field.number:>2} {name:<27} {shape}{_mark(field, type_, tag)}\n"


_CLOSING = str.maketrans("[{", "]}")


def _mark(field: Field, type_: str, tag: Tag) -> str:
    """`?` for what is shown if it was sent, `!` for what is always shown; else it is if not empty."""
    if tag.is_pointer:
        return "?"
    if tag.is_inline or field.wrapping or tag.is_struct_left_out:
        return ""
    # Go leaves out no struct for being empty.
    return "!" if type_ not in PLAIN or not tag.omits else ""


def _short(full: str, known: set[str]) -> str:
    package, _, name = full.rpartition(".")
    if not package or name in SPECIAL:
        return SPECIAL.get(name, name)
    own = f"{package.split('.')[-2]}.{name}"
    return own if own in known else name


def _last(name: str) -> str:
    return name.rpartition(".")[2]


# Sources


def _read_sources() -> tuple[Mapping[str, list[Field]], Mapping[tuple[str, int], Tag]]:
    messages: dict[str, list[Field]] = {}
    tags: dict[tuple[str, int], Tag] = {}
    for module, packages in PACKAGES.items():
        home = _folder(module)
        for package in packages.split():
            read = dict(_messages((home / package / "generated.proto").read_text()))
            messages |= read
            prefix = next(iter(read)).rpartition(".")[0]
            for path in (home / package).glob("*.go"):
                if not path.stem.endswith("_test"):
                    tags |= {(f"{prefix}.{name}", number): tag for name, number, tag in _tags(path)}
    return messages, tags


def _folder(module: str) -> Path:
    """Where Go keeps the version that the provider is built from. Nothing is fetched."""
    found = subprocess.run(
        [binaries.find_go(), "list", "-mod=mod", "-m", "-f", "{{.Dir}}", module],
        cwd=settings.PROVIDERS / settings.KUBERNETES / "kubernetes",
        env={**os.environ, "GOPROXY": "off", "GOFLAGS": "", "GOWORK": "off"},
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    if not found:
        raise SourcesMissingError(
            f"Go's module cache has no {module}; build the provider to fetch it"
        )
    return Path(found)


def _messages(text: str) -> Iterator[tuple[str, list[Field]]]:
    package = message = ""
    fields: list[Field] = []
    for line in text.splitlines():
        if found := _PACKAGE.match(line):
            package = found["name"]
        elif found := _MESSAGE.match(line):
            message, fields = f"{package}.{found['name']}", []
        elif found := _PROTO_FIELD.match(line):
            fields.append(_field(found, package))
        elif line == "}":
            yield message, fields


def _field(found: re.Match[str], package: str) -> Field:
    type_: str = found["type"] or found["values"]
    if type_.startswith("."):
        type_ = type_[1:]
    elif type_ not in PLAIN:
        type_ = f"{package}.{type_}"
    wrapping = "{" if found["values"] else "[" if found["label"] == "repeated" else ""
    return Field(int(found["number"]), type_, wrapping)


def _tags(path: Path) -> Iterator[tuple[str, int, Tag]]:
    for struct in _STRUCT.finditer(path.read_text()):
        for field in _GO_FIELD.finditer(struct["body"]):
            json_name, *options = field["json"].split(",")
            yield (
                struct["name"],
                int(field["number"]),
                Tag(
                    json=json_name,
                    omits="omitempty" in options,
                    is_inline="inline" in options,
                    is_pointer=field["type"].startswith("*"),
                    is_struct_left_out="omitzero" in options,
                ),
            )
