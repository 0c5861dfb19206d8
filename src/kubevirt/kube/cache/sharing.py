"""Equal texts of many objects, held once.

A decoder makes a new string for every value. In a thousand VMIs most of these are the same few:
namespaces, nodes, phases, condition types, owners' kinds. To share them saves a third of the memory of
a cached VMI and takes less time than decoding it, which a cache that lives for weeks can pay.

The pool is a table of fixed size in which a text has one place. Texts that never repeat (names,
addresses) overwrite each other there and are forgotten; texts that do repeat are back at once. So it
needs to be told nothing, and never grows.

Every event passes through here. So the walk through an object is compiled for its type, as dataclasses
compile `__init__`: one that looks at each value to see what it is takes more than twice as long.
"""

from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import force_setattr

PLACES = 4096
"""A power of two. With twenty unrepeated texts in an object, one in two hundred finds is missed."""

UNREPEATED = {"uid", "resource_version"}

_TEXT = """
    value = thing.{name}
    if value:
        place = hash(value) & mask
        known = places[place]
        if known == value:
            set_field(thing, "{name}", known)
        else:
            places[place] = value
"""
_TEXTS_OF_A_MAP = """
    value = thing.{name}
    if type(value) is dict:
        for key, each in value.items():
            place = hash(each) & mask
            known = places[place]
            if known == each:
                value[key] = known
            else:
                places[place] = each
"""
_STRUCT = """
    value = thing.{name}
    if value is not None:
        share(value)
"""
_STRUCTS = """
    for each in thing.{name} or ():
        share(each)
"""


class Sharing:
    def __init__(self) -> None:
        self._places: list[Any] = [None] * PLACES
        self._walks: dict[type[Any], Callable[[Any], None]] = {}

    def share(self, thing: Any) -> None:
        """Replaces the texts in a struct by equal ones that others hold.

        The struct may be frozen: it stays equal to what it was. It should be fresh from the decoder,
        since dictionaries in it are changed in place.
        """
        type_ = type(thing)
        walk = self._walks.get(type_)
        if walk is None:
            walk = self._walks[type_] = self._compile(type_)
        walk(thing)

    def _compile(self, type_: type[Any]) -> Callable[[Any], None]:
        steps = ["def walk(thing):\n    pass\n"]
        if issubclass(type_, Struct):
            hints = get_type_hints(type_)
            fields = [name for name in type_.__struct_fields__ if name not in UNREPEATED]
            steps += [_step(hints[name]).format(name=name) for name in fields]
        scope: dict[str, Any] = {
            "places": self._places,
            "mask": PLACES - 1,
            "set_field": force_setattr,
            "share": self.share,
        }
        exec("".join(steps), scope)  # noqa: S102  # made of the field names of our own types
        walk: Callable[[Any], None] = scope["walk"]
        return walk


def _step(hint: Any) -> str:
    """What to do with a field that is annotated so."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        present = [each for each in arguments if each is not NoneType]
        return _step(present[0]) if len(present) == 1 else ""
    if hint is str:
        return _TEXT
    if isinstance(hint, type) and issubclass(hint, Struct):
        return _STRUCT
    if origin is tuple:
        # A tuple of texts is itself a value like a text.
        return {_TEXT: _TEXT, _STRUCT: _STRUCTS}.get(_step(arguments[0]), "")
    if origin in {Mapping, dict} and arguments[1] is str:
        return _TEXTS_OF_A_MAP
    return ""
