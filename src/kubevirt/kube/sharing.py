"""Equal texts of many objects, held once.

A decoder makes a new string for every value. In a thousand VMIs most of these are the same few:
namespaces, nodes, phases, condition types, owners' kinds. To share them saves a third of the memory of
a cached VMI and costs about as much time as decoding it, which a cache that lives for weeks can pay.

The pool is a table of fixed size in which a text has one place. Texts that never repeat (names, UIDs,
addresses) overwrite each other there and are forgotten; texts that do repeat are back at once. So it
needs to be told nothing, and it never grows.
"""

from typing import Any

from msgspec import Struct
from msgspec.structs import astuple, force_setattr

PLACES = 4096
"""A power of two. With twenty unrepeated texts in an object, one in two hundred finds is missed."""


class Sharing:
    def __init__(self) -> None:
        self._places = [""] * PLACES

    def share(self, thing: Any) -> None:
        """Replaces the texts in a struct by equal ones that others hold.

        The struct may be frozen: it stays equal to what it was. It must be fresh from the decoder,
        since its maps are changed in place.
        """
        if not isinstance(thing, Struct):
            return
        for name, value in zip(thing.__struct_fields__, astuple(thing), strict=True):
            if not value:
                continue
            kind = type(value)
            if kind is str:
                shared = self._shared(value)
                if shared is not value:
                    force_setattr(thing, name, shared)
            elif kind is tuple:
                if type(value[0]) is str:
                    force_setattr(thing, name, tuple([self._shared(each) for each in value]))
                else:
                    for each in value:
                        self.share(each)
            elif kind is dict:
                self._share_values(value)
            else:
                self.share(value)

    def _share_values(self, values: dict[Any, Any]) -> None:
        # The decoder shares keys already, if they are short.
        for key, value in values.items():
            if type(value) is str:
                values[key] = self._shared(value)

    def _shared(self, text: str) -> str:
        place = hash(text) & (PLACES - 1)
        known = self._places[place]
        if known == text:
            return known
        self._places[place] = text
        return text
