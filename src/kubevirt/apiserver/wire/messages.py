"""Google's decoder, told of one message at a time.

A message inside another is to the decoder a run of bytes, which the next call takes apart. So a
description never refers to another, is made when the first such message comes, and how deep and how much
is read is decided in one place, by us. A message that is sent in several parts means all of them
together, which is what their bytes mean one after the other.
"""

from collections.abc import Iterable
from functools import cache
from threading import Lock
from typing import Any, Final

from google.protobuf import message_factory
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from kubevirt.apiserver.wire import complaint
from kubevirt.apiserver.wire.table import Field, Table

_NUMBERS: Final = {
    "bool": FieldDescriptorProto.TYPE_BOOL,
    "double": FieldDescriptorProto.TYPE_DOUBLE,
    "int32": FieldDescriptorProto.TYPE_INT32,
    "int64": FieldDescriptorProto.TYPE_INT64,
}
_LAST_COUNTS: Final = {"string", "bytes", "blob", *_NUMBERS}
"""Of these one value is all there is. Text is bytes here: Go takes any, and shows what it can."""


class Malformed(ValueError):  # noqa: N818  # it is what the body is
    """No message of its kind; in the words of Go's decoder."""


class Messages:
    def __init__(self, table: Table) -> None:
        self._pool = DescriptorPool()
        self._known: set[str] = set()
        self._lock = Lock()
        self.fields = table.fields
        self._class = cache(self._made)

    def split(self, name: str, data: bytes) -> dict[int, Any]:
        """The values of a message by number: numbers, bytes, and lists of these for what is a list, a
        map or a message. What nobody knows is dropped.
        """
        return self._split(self._class(name), data)

    def entry(self, of: str, data: bytes) -> dict[int, Any]:
        """An entry of a map of such: 1 is the key and 2 the value."""
        return self._split(self._class(of, is_entry=True), data)

    def _split(self, class_: type[Message], data: bytes) -> dict[int, Any]:
        try:
            message = class_.FromString(data)
        except DecodeError as error:
            raise Malformed(_complaint(class_, data)) from error
        _refuse_other_types(message)
        return {field.number: value for field, value in message.ListFields()}

    def _made(self, name: str, *, is_entry: bool = False) -> type[Message]:
        title = f"{name}.Entry" if is_entry else name
        fields = _entry_fields(name) if is_entry else self.fields(name)
        description = DescriptorProto(name=_identifier(title), field=_described(fields))
        with self._lock:  # large bodies are read beside each other
            if title not in self._known:
                self._pool.Add(FileDescriptorProto(name=title, message_type=[description]))
                self._known.add(title)
        return message_factory.GetMessageClass(self._pool.FindMessageTypeByName(_identifier(title)))


def _refuse_other_types(message: Message) -> None:
    """A number that is known, with a value that it cannot have, is left among the unknown."""
    unknown = UnknownFieldSet(message)
    for each in (unknown[index] for index in range(len(unknown))):
        if field := message.DESCRIPTOR.fields_by_number.get(each.field_number):
            raise Malformed(f"proto: wrong wireType = {each.wire_type} for field {field.name}")


def _complaint(class_: type[Message], data: bytes) -> str:
    known = {
        each.number: complaint.Known(each.name, _forms(each.type))
        for each in class_.DESCRIPTOR.fields
    }
    return complaint.of(class_.DESCRIPTOR.name.rpartition("_")[2], data, known)


def _forms(type_: int) -> tuple[int, ...]:
    """A run of bytes may also be many numbers in one."""
    if type_ == FieldDescriptorProto.TYPE_BYTES:
        return (2,)
    return (1, 2) if type_ == FieldDescriptorProto.TYPE_DOUBLE else (0, 2)


def _entry_fields(of: str) -> tuple[Field, ...]:
    return Field(1, "key", "string"), Field(2, "value", of)


def _described(fields: Iterable[Field]) -> list[FieldDescriptorProto]:
    return [
        FieldDescriptorProto(
            name=_identifier(_go_name(each)),
            number=each.number,
            type=_NUMBERS.get(each.type, FieldDescriptorProto.TYPE_BYTES),
            label=FieldDescriptorProto.LABEL_OPTIONAL
            if each.type in _LAST_COUNTS and not each.wrapping
            else FieldDescriptorProto.LABEL_REPEATED,
        )
        for each in fields
    ]


def _go_name(field: Field) -> str:
    """For complaints. What Go embeds is called as its type."""
    if not field.name or field.name == "metadata":
        return field.type
    return field.name[:1].upper() + field.name[1:]


def _identifier(name: str) -> str:
    return "".join(each if each.isalnum() else "_" for each in name)
