"""The shape of an element class: its fields, sorted by what they are in XML. Computed once a class.

Type hints are the only declaration there is. Reading and writing both follow the shape, so they
cannot disagree about a field.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Union, get_args, get_origin, get_type_hints

import msgspec

from kubevirt.virt.domain.xml.element import Element, Role, Switch

Spell = Callable[[Any], str]
Understand = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Value:
    """How a single value is spelled in XML and understood again. `understand` raises ValueError."""

    spell: Spell
    understand: Understand


@dataclass(frozen=True, slots=True)
class Attribute:
    field: str
    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Leaf:
    """A child element that holds one value as its text."""

    field: str
    name: str
    namespace: str
    value: Value
    repeats: bool


@dataclass(frozen=True, slots=True)
class Present:
    """An empty child element that is there or not."""

    field: str
    name: str
    namespace: str
    repeats: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Child:
    """A child element with fields of its own."""

    field: str
    name: str
    namespace: str
    type: type[Element]
    repeats: bool


Part = Leaf | Present | Child


@dataclass(frozen=True, slots=True)
class Shape:
    """A class as XML sees it."""

    attributes: tuple[Attribute, ...]
    text: Attribute | None
    parts: tuple[Part, ...]
    part_named: Mapping[tuple[str, str], Part]
    """Parts by namespace and name, for reading."""
    required: tuple[tuple[str, str], ...]
    """Fields without default, each with its XML name."""


@cache
def shape_of(element: type[Element]) -> Shape:
    hints = get_type_hints(element, include_extras=True)
    attributes: list[Attribute] = []
    texts: list[Attribute] = []
    parts: list[Part] = []
    fields = msgspec.structs.fields(element)
    for field in fields:
        name = field.encode_name
        marks, hint = _unwrapped(hints[field.name])
        if Role.ATTRIBUTE in marks:
            attributes.append(Attribute(field.name, name, _value_of(hint)))
        elif switches := [mark for mark in marks if isinstance(mark, Switch)]:
            attributes.append(Attribute(field.name, name, _switched(switches[0])))
        elif Role.TEXT in marks:
            texts.append(Attribute(field.name, name, _value_of(hint)))
        elif Role.FLAG in marks:
            parts.append(Present(field.name, name, element.namespace))
        else:
            parts.append(_part(field.name, name, element.namespace, hint))
    if len(texts) + bool(parts and texts) > 1:
        raise TypeError(f"{element.__name__} mixes text with other text or children")
    return Shape(
        tuple(attributes),
        texts[0] if texts else None,
        tuple(parts),
        {(part.namespace, part.name): part for part in parts},
        tuple((field.name, field.encode_name) for field in fields if field.required),
    )


def _unwrapped(hint: Any) -> tuple[tuple[Any, ...], Any]:
    """The marks of a hint, and the hint without them and without `None`."""
    marks: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *found = get_args(hint)
        marks = tuple(found)
    if get_origin(hint) in (Union, UnionType):
        alternatives = [each for each in get_args(hint) if each is not NoneType]
        if len(alternatives) != 1:
            raise TypeError(f"{hint} can be read in more than one way")
        nested, hint = _unwrapped(alternatives[0])
        marks += nested
    return marks, hint


def _part(field: str, name: str, namespace: str, hint: Any) -> Part:
    repeats = get_origin(hint) is tuple
    if repeats:
        _, hint = _unwrapped(get_args(hint)[0])
    if isinstance(hint, type) and issubclass(hint, Element):
        return Child(field, name, hint.namespace, hint, repeats)
    return Leaf(field, name, namespace, _value_of(hint), repeats)


def _value_of(hint: Any) -> Value:
    if hint is str:
        return Value(str, str)
    if hint is int:
        return Value(str, int)
    raise TypeError(f"no XML spelling for {hint}")


def _switched(switch: Switch) -> Value:
    meaning = {switch.on: True, switch.off: False}

    def understand(text: str) -> bool:
        if text not in meaning:
            raise ValueError(text)
        return meaning[text]

    return Value(lambda value: switch.on if value else switch.off, understand)
