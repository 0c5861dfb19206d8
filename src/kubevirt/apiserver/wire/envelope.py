"""What is around an object in protobuf: four bytes that say so, and a message that names its kind."""

from functools import cache
from typing import Any, Final

from kubevirt.apiserver.kinds import builtin
from kubevirt.apiserver.wire import MAGIC, special
from kubevirt.apiserver.wire.messages import Malformed, Messages
from kubevirt.apiserver.wire.reader import Reader
from kubevirt.apiserver.wire.table import Table

__all__ = ["MAGIC", "Malformed", "MalformedObject", "read"]

Object = dict[str, Any]

_OPTIONS: Final = "DeleteOptions"
"""Every group has them, and they are the same."""


class MalformedObject(Malformed):
    """What is around it could be read: it is clear what it should be."""

    def __init__(self, words: str, api_version: str, kind: str) -> None:
        super().__init__(words)
        self.api_version = api_version
        self.kind = kind


def read(body: bytes, *, api_version: str, kind: str) -> Object:
    """The object of a body, with its kind and version; where it names none, it is of the given ones.
    Of a kind that nobody knows there is nothing else in it. Raises `Malformed`.
    """
    unknown = _opened(body)
    named = {"apiVersion": api_version, "kind": kind, **unknown["typeMeta"]}
    type_ = _type_name(named["apiVersion"], named["kind"])
    if not type_:
        return named
    try:
        return {**Reader(_messages()).read(type_, unknown.get("raw", b"")), **named}
    except Malformed as error:
        raise MalformedObject(str(error), named["apiVersion"], named["kind"]) from error


def _opened(body: bytes) -> Object:
    if not body:
        raise Malformed("empty data")
    if not body.startswith(MAGIC):
        shown = " ".join(map(str, MAGIC))
        raise Malformed(
            f"provided data does not appear to be a protobuf message, expected prefix [{shown}]"
        )
    if body == MAGIC:
        raise Malformed("empty body")
    return Reader(_messages()).read("Unknown", body[len(MAGIC) :])


def _type_name(api_version: str, kind: str) -> str:
    return _OPTIONS if kind == _OPTIONS else builtin.type_name(api_version, kind)


@cache
def _messages() -> Messages:
    return Messages(Table(builtin.wire_table() + special.TABLE))
