"""Whether a configuration fits its type well enough to be merged.

This is not validation, which comes later and sees the whole object. It only refuses what cannot be
merged: undeclared fields, wrong kinds of values, list items that cannot be told apart.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from kubevirt.apiserver.apply import elements
from kubevirt.apiserver.apply.types import ListType, MapType, Scalar, Type
from kubevirt.apiserver.apply.values import NoElement, element_of
from kubevirt.apiserver.schema import gotext
from kubevirt.apiserver.schema.plain import is_number
from kubevirt.base.errors import UserError


class DoesNotFit(UserError):  # noqa: N818  # it is what the configuration does
    """In Kubernetes' words, one line for each misfit."""


def check(value: Any, kind: Type) -> None:
    """Raises `DoesNotFit`."""
    if _fits(value, kind):
        return
    found = list(_misfits(value, kind, ""))
    if len(found) == 1:
        raise DoesNotFit(found[0])
    if found:
        raise DoesNotFit("\n".join(["errors:", *(f"  {each}" for each in found)]))


def _fits(value: Any, kind: Type) -> bool:
    """The same question without the words, which nearly always is all that is asked."""
    if value is None:
        return True
    if value.__class__ is dict:
        if kind.map is None:
            return False
        fields, element = kind.map.fields, kind.map.element
        for name, child in value.items():
            known = fields.get(name, element)
            if known is None or not _fits(child, known):
                return False
        return True
    if value.__class__ is list:
        return kind.list is not None and _list_fits(value, kind.list)
    scalar = kind.scalar
    return scalar is not None and (scalar is Scalar.ANY or _FITS[scalar](value))


def _list_fits(value: list[Any], kind: ListType) -> bool:
    if kind.is_associative:
        try:
            steps = {element_of(item, kind) for item in value}
        except NoElement:
            return False
        if len(steps) != len(value):
            return False
    element = kind.element
    return all(_fits(item, element) for item in value)


def _misfits(value: Any, kind: Type, path: str) -> Iterator[str]:
    if value is None:
        return
    if isinstance(value, dict) and kind.map:
        yield from _misfits_of_map(value, kind.map, path)
    elif isinstance(value, list) and kind.list:
        yield from _misfits_of_list(value, kind.list, path)
    elif not isinstance(value, dict | list) and kind.scalar:
        if not _FITS[kind.scalar](value):
            yield _at(path, _WORDS[kind.scalar](value))
    elif kind.map:
        yield _at(path, f"expected map, got &{{{gotext.shown(value)}}}")
    elif kind.scalar:
        yield _at(path, _WORDS[kind.scalar](value))
    else:
        yield _at(path, f"expected list, got &{{{gotext.shown(value)}}}")


def _misfits_of_map(value: dict[str, Any], kind: MapType, path: str) -> Iterator[str]:
    for name, child in value.items():
        known = kind.field(name)
        if known is None:
            yield _at(f"{path}.{name}", "field not declared in schema")
            return
        yield from _misfits(child, known, f"{path}.{name}")


def _misfits_of_list(value: list[Any], kind: ListType, path: str) -> Iterator[str]:
    seen: set[str] = set()
    for index, item in enumerate(value):
        shown = f"[{index}]"
        if kind.is_associative:
            try:
                step = element_of(item, kind)
            except NoElement as error:
                yield _at(path, f"element {index}: {error}")
                return
            shown = elements.shown(step)
            if step in seen:
                yield _at(path, f"duplicate entries for key {shown}")
            seen.add(step)
        yield from _misfits(item, kind.element, path + shown)


def _at(path: str, words: str) -> str:
    return f"{path}: {words}" if path else words


_FITS: Final[dict[Scalar, Callable[[Any], bool]]] = {
    Scalar.NUMERIC: is_number,
    Scalar.STRING: lambda value: isinstance(value, str),
    Scalar.BOOLEAN: lambda value: isinstance(value, bool),
    Scalar.ANY: lambda value: not isinstance(value, dict | list),
}
_WORDS: Final[dict[Scalar, Callable[[Any], str]]] = {
    Scalar.NUMERIC: lambda value: f"expected numeric (int or float), got {gotext.type_of(value)}",
    Scalar.STRING: lambda value: (
        f"expected string, got &value.valueUnstructured{{Value:{gotext.syntax(value)}}}"
    ),
    Scalar.BOOLEAN: lambda value: f"expected boolean, got &{{{gotext.shown(value)}}}",
    Scalar.ANY: lambda value: f"expected any scalar, got &{{{gotext.shown(value)}}}",
}
