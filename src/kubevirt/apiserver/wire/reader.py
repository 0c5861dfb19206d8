"""A message as the dict that the same object in JSON would have been.

Go's structs lie between the two: a struct that nobody filled is there and empty, a pointer to nothing is
not, and whether the zero of a number or a text is shown is said field by field. See `table.py`.
"""

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from kubevirt.apiserver.wire.messages import Malformed, Messages
from kubevirt.apiserver.wire.special import MEANINGS
from kubevirt.apiserver.wire.table import IF_SENT, Field

Object = dict[str, Any]

DEPTH_LIMIT: Final = 100
"""Of messages in messages, as Google's own decoder has it; Pods need 9."""
MESSAGES_LIMIT: Final = 100_000
"""In one body: an empty message costs two bytes to send and hundreds to keep."""


class _Plain(NamedTuple):
    """What is no message."""

    zero: Any
    shown: Callable[[Any], Any]


_PLAIN: Final[Mapping[str, _Plain]] = {
    "blob": _Plain(b"", bytes),
    "bool": _Plain(False, bool),
    "bytes": _Plain(b"", lambda value: b64encode(value).decode()),
    "double": _Plain(0.0, float),
    "int32": _Plain(0, int),
    "int64": _Plain(0, int),
    "string": _Plain(b"", lambda value: value.decode(errors="replace")),
}


class Reader:
    """Of one body: it counts what it has read."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self._left = MESSAGES_LIMIT

    def read(self, name: str, data: bytes, depth: int = 0) -> Object:
        """Raises `Malformed`."""
        self._count(depth)
        sent = self._messages.split(name, data) if data else {}
        made: Object = {}
        for field in self._messages.fields(name):
            if field.number not in sent and not field.is_implied:
                continue
            value = self._shown(field, sent.get(field.number), depth)
            if value is None:
                continue
            if field.name:
                made[field.name] = value
            else:
                made |= value
        return made

    def _count(self, depth: int) -> None:
        self._left -= 1
        if depth > DEPTH_LIMIT or self._left < 0:
            raise Malformed("exceeded max depth" if self._left >= 0 else "too many messages")

    def _shown(self, field: Field, sent: Any, depth: int) -> Any:
        """What JSON shows of a field; None for nothing."""
        if field.wrapping == "[":
            return [self._value(field.type, each, depth) for each in sent]
        if field.wrapping == "{":
            return dict(self._entry(field.type, each, depth) for each in sent)
        whole = _whole(field.type, _zero(field.type) if sent is None else sent)
        value = self._value(field.type, whole, depth)
        return value if value or field.is_implied or field.shown == IF_SENT else None

    def _entry(self, of: str, data: bytes, depth: int) -> tuple[str, Any]:
        self._count(depth)
        sent = self._messages.entry(of, data)
        key: str = sent.get(1, b"").decode(errors="replace")
        return key, self._value(of, _whole(of, sent.get(2, _zero(of))), depth)

    def _value(self, type_: str, sent: Any, depth: int) -> Any:
        if plain := _PLAIN.get(type_):
            return plain.shown(sent)
        said = self.read(type_, sent, depth + 1)
        meaning = MEANINGS.get(type_)
        return meaning(said) if meaning else said


def _zero(type_: str) -> Any:
    plain = _PLAIN.get(type_)
    return plain.zero if plain else ()


def _whole(type_: str, sent: Any) -> Any:
    """A message may be sent in parts."""
    return sent if type_ in _PLAIN else b"".join(sent)
