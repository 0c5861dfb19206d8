"""Specs of all kinds, made from the types themselves: a field that is new is tried from its first day.

A few fields of each value are set at a time, from words that are right somewhere, so that some specs
are fine and most are nearly fine; those are the ones that find the gaps between two rules.
"""

import typing
from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

from kubevirt.api.disks import Disk
from kubevirt.api.interfaces import Interface, PodNetwork
from kubevirt.api.struct import Struct
from kubevirt.api.volumes import Volume

FEW = 3
WORDS = (
    *("a", "b", "default", "root"),
    *("virtio", "sata", "scsi", "usb", "ide", "tablet", "q35", "pc-q35-9.2", "amd64", "arm64"),
    *("1", "2Mi", "1Gi", "64Mi", "100m", "-1", "1e3", "much"),
    *("Disk", "DiskOrCreate", "Paused", "None", "LiveMigrate", "TCP", "UDP", "Exists", "NoExecute"),
    *("none", "writethrough", "native", "threads", "up", "down", "absent", "shared", "auto"),
    *("/disk/a.img", "/../a", "02:00:5e:10:00:01", "02:00:00:00:00:00", "10.0.2.0/24", "10.0.2.2"),
    *("0000:08:00.0", "5d307ca9-b3ef-428c-8861-06e72d69f223", "example/disk:1", "SGkuXG4="),
    *("", "A B", "a.b", "é\n", "x" * 300),
)
NUMBERS = (0, 1, 2, 4, 80, 224, 512, 4096, -1, 65536, 2**31 - 1)


@cache
def values(annotation: Any) -> st.SearchStrategy[Any]:
    """JSON values that a field of this type can hold."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return values(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return st.one_of(*(values(each) for each in get_args(annotation) if each is not NoneType))
    if origin is tuple:
        return st.lists(values(get_args(annotation)[0]), max_size=FEW)
    if origin is typing.get_origin(Mapping[str, str]):
        keys = st.sampled_from(("cpu", "memory", "a/b", "hooks.kubevirt.io/hookSidecars"))
        return st.dictionaries(keys, values(get_args(annotation)[1]), max_size=2)
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return objects(annotation)
    plain: dict[Any, st.SearchStrategy[Any]] = {
        str: st.sampled_from(WORDS),
        int: st.sampled_from(NUMBERS),
        bool: st.booleans(),
    }
    return plain.get(annotation, st.none())


@cache
def objects(kind: type[Struct]) -> st.SearchStrategy[dict[str, Any]]:
    hints = get_type_hints(kind, include_extras=True)
    fields = msgspec.structs.fields(kind)
    always = [field for field in fields if field.required]
    perhaps = [field for field in fields if not field.required]

    @st.composite
    def some_fields(draw: st.DrawFn) -> dict[str, Any]:
        chosen = always
        if perhaps:
            indexes = st.lists(st.integers(0, len(perhaps) - 1), max_size=FEW, unique=True)
            chosen = [*always, *(perhaps[index] for index in draw(indexes))]
        return {field.encode_name: draw(values(hints[field.name])) for field in chosen}

    return some_fields()


def one_of_its_sources() -> st.SearchStrategy[dict[str, Any]]:
    hints = get_type_hints(Volume, include_extras=True)
    sources = [field for field in msgspec.structs.fields(Volume) if field.name != "name"]
    return st.one_of(
        *(
            st.fixed_dictionaries({field.encode_name: values(hints[field.name])})
            for field in sources
        )
    )


@st.composite
def furnished(draw: st.DrawFn) -> dict[str, Any]:
    """Specs whose disks have volumes and whose cards have networks, so that rules beyond that are met."""
    volumes = draw(st.lists(one_of_its_sources(), max_size=FEW))
    disks = [draw(objects(Disk)) for _ in volumes]
    cards = draw(st.lists(objects(Interface), max_size=1))
    networks: list[dict[str, Any]] = [{"pod": draw(objects(PodNetwork))} for _ in cards]
    for index, entries in enumerate(zip(volumes, disks, strict=True)):
        for entry in entries:
            entry["name"] = f"disk{index}"
    for index, entries in enumerate(zip(cards, networks, strict=True)):
        for entry in entries:
            entry["name"] = f"net{index}"
        if not {"masquerade", "bridge"} & set(entries[0]):
            entries[0]["masquerade"] = {}
    devices = {"disks": disks, "interfaces": cards}
    return {"domain": {"devices": devices}, "volumes": volumes, "networks": networks}
