"""Every field that upstream KubeVirt has, by name and type, against a list of facts.

`fields.txt` holds one fact a line: `module.Type.jsonName type [required]`. `[X]` is a list of X,
`{X}` a map to X. A change of the types that upstream did not make shows here first.
"""

import importlib
import types
import typing
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec
import pytest

from kubevirt.api.struct import Quantity, Struct

FACTS = Path(__file__).with_name("fields.txt").read_text().splitlines()


def struct_named(path: str) -> type[Struct]:
    module, name = path.rsplit(".", 1)
    struct: type[Struct] = getattr(importlib.import_module(f"kubevirt.api.{module}"), name)
    return struct


def fact_type(annotation: Any) -> str:
    """A Python annotation in the words of the list."""
    if annotation == Quantity:
        return "quantity"
    match get_origin(annotation):
        case typing.Annotated:
            return fact_type(get_args(annotation)[0])
        case typing.Union | types.UnionType:
            members = [each for each in get_args(annotation) if each is not type(None)]
            if Quantity in members:
                return "quantity"
            return fact_type(members[0]) if len(members) == 1 else "int-or-string"
        case builtin if builtin is tuple:
            return f"[{fact_type(get_args(annotation)[0])}]"
        case mapping if mapping is get_origin(Mapping[str, str]):
            values = get_args(annotation)[1]
            return "any" if values is Any else f"{{{fact_type(values)}}}"
    scalars = {
        str: "string",
        int: "integer",
        bool: "boolean",
        float: "number",
        datetime: "time",
        Any: "any",
    }
    return scalars.get(annotation) or str(annotation.__name__)


def facts_of(path: str) -> Iterator[str]:
    struct = struct_named(path)
    hints = get_type_hints(struct, include_extras=True)
    for field in msgspec.structs.fields(struct):
        required = " required" if field.required else ""
        yield f"{path}.{field.encode_name} {fact_type(hints[field.name])}{required}"


def listed_types() -> list[str]:
    def type_path(fact: str) -> str:
        parts = fact.split(" ", maxsplit=1)[0].split(".")
        last = next(index for index, part in enumerate(parts) if part[0].isupper())
        return ".".join(parts[: last + 1])

    return sorted({type_path(fact) for fact in FACTS})


@pytest.mark.parametrize("path", listed_types())
def test_a_type_has_exactly_the_fields_of_upstream(path: str) -> None:
    listed = {fact for fact in FACTS if fact.startswith(f"{path}.")}
    assert set(facts_of(path)) == listed


def test_the_list_covers_every_type_that_a_kubevirt_kind_is_made_of() -> None:
    from kubevirt.api.definitions import DEFINITIONS

    seen: set[type] = set()

    def walk(annotation: Any) -> None:
        if isinstance(annotation, type) and issubclass(annotation, Struct):
            if annotation in seen:
                return
            seen.add(annotation)
            for hint in get_type_hints(annotation, include_extras=True).values():
                walk(hint)
        for argument in get_args(annotation):
            walk(argument)

    for definition in DEFINITIONS:
        walk(definition.resource.type)
    made_of = {f"{t.__module__.removeprefix('kubevirt.api.')}.{t.__name__}" for t in seen}
    assert {path for path in made_of - set(listed_types()) if not path.startswith("meta.")} == set()


@pytest.mark.parametrize(
    ("struct", "name"),
    [
        ("instance_status.VirtualMachineInstanceStatus", "VSOCKCID"),
        ("instance_status.VirtualMachineInstanceStatus", "guestOSInfo"),
        ("migration.VirtualMachineInstanceMigrationState", "targetCPUSet"),
        ("migration.VirtualMachineInstanceMigrationSourceState", "migrationUID"),
        ("disks.Disk", "dedicatedIOThread"),
        ("volumes.Volume", "downwardAPI"),
        ("clone.VirtualMachineCloneSpec", "newSMBiosSerial"),
    ],
)
def test_irregular_names_stay_as_the_world_knows_them(struct: str, name: str) -> None:
    assert name in {field.encode_name for field in msgspec.structs.fields(struct_named(struct))}


def test_annotations_beyond_the_type_do_not_hide_it() -> None:
    assert fact_type(Annotated[tuple[str, ...], "anything"]) == "[string]"
