"""Objects in protobuf, as Go writes them: for those who hold a server to reading them.

Go writes every field that is no pointer, even if it is empty, and a pointer only if it points to
something.
"""

from base64 import b64decode
from datetime import datetime
from struct import pack
from typing import Any

import msgspec

from kubevirt.apiserver.kinds import builtin
from kubevirt.apiserver.wire.table import IF_SENT, Field, Table

Object = dict[str, Any]

MESSAGES = Table(builtin.wire_table())
_VARINT, _FIXED64, _BYTES = 0, 1, 2
_ZERO = {"bool": False, "bytes": "", "double": 0.0, "int32": 0, "int64": 0, "string": ""}


def body(object_: Object, type_: str) -> bytes:
    """Of a request."""
    named = text(1, object_["apiVersion"]) + text(2, object_["kind"])
    inside = message(type_, object_)
    return b"k8s\0" + field(1, named) + field(2, inside) + text(3, "") + text(4, "")


def message(type_: str, object_: Object) -> bytes:
    return b"".join(_field(each, object_) for each in MESSAGES.fields(type_))


def field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | _BYTES) + varint(len(data)) + data


def text(number: int, value: str) -> bytes:
    return field(number, value.encode())


def varint(value: int) -> bytes:
    value %= 1 << 64
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def integer(number: int, value: int) -> bytes:
    return varint(number << 3 | _VARINT) + varint(value)


def _field(known: Field, object_: Object) -> bytes:
    if not known.name:
        return field(known.number, message(known.type, object_))
    value = object_.get(known.name)
    match known.wrapping:
        case "[":
            return b"".join(_value(known.number, known.type, item) for item in value or ())
        case "{":
            return b"".join(
                field(known.number, text(1, name) + _value(2, known.type, child))
                for name, child in (value or {}).items()
            )
    if value is None and known.shown == IF_SENT:
        return b""
    return _value(known.number, known.type, value)


def _value(number: int, type_: str, value: Any) -> bytes:
    match type_:
        case "bool" | "int32" | "int64":
            return integer(number, int(value or 0))
        case "double":
            return varint(number << 3 | _FIXED64) + pack("<d", value or 0.0)
        case "string":
            return text(number, value or "")
        case "bytes":
            return field(number, b64decode(value or ""))
    return field(number, _special(type_, value))


def _special(type_: str, value: Any) -> bytes:
    match type_:
        case "time" | "micro-time":
            return _time(value) if value else b""
        case "quantity":
            return text(1, value or "0")
        case "int-or-string" if isinstance(value, str):
            return integer(1, 1) + integer(2, 0) + text(3, value)
        case "int-or-string":
            return integer(1, 0) + integer(2, value or 0) + text(3, "")
        case "raw":
            return b"" if value is None else field(1, msgspec.json.encode(value))
        case "strings":
            return b"".join(text(1, each) for each in value)
        case "schema-or-bool":
            is_schema = isinstance(value, dict)
            schema = field(2, _schema(value)) if is_schema else b""
            return integer(1, is_schema or value) + schema
        case "schema-or-array" | "schema-or-strings":
            items = value if isinstance(value, list) else ()
            schema = field(1, _schema(value)) if isinstance(value, dict) else b""
            return schema + b"".join(field(2, _item(each)) for each in items)
    return message(type_, value or {})


def _schema(value: Object) -> bytes:
    return message("JSONSchemaProps", value)


def _item(value: Object | str) -> bytes:
    return value.encode() if isinstance(value, str) else _schema(value)


def _time(value: str) -> bytes:
    moment = datetime.fromisoformat(value)
    seconds = int(moment.replace(microsecond=0).timestamp())
    return integer(1, seconds) + integer(2, moment.microsecond * 1000)
