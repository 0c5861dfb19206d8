"""Answers of a guest's agent, through one gate.

Whoever rules the guest rules its agent: an answer may be anything. What passes here is of the type
that was asked for and bounded: size of the whole, number of items, length of each text. Too many
items or too long a text is cut; what has the wrong type is an error, not a guess.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import Struct

from kubevirt.host.libvirt.errors import AgentError

T = TypeVar("T")

ANSWER_LIMIT: Final = 1024 * 1024
OUTPUT_LIMIT: Final = 4 * 1024 * 1024
"""Characters of an answer, and of one that holds a program's output; libvirt takes no more."""
ITEM_LIMIT: Final = 256
TEXT_LIMIT: Final = 1024
DATA_LIMIT: Final = 1024 * 1024
"""Of a program's output, which is text of another kind: base64, cut by whoever decodes it."""


class AgentCommand(Struct, frozen=True, kw_only=True):
    name: str
    enabled: bool = True


class AgentInfo(Struct, frozen=True, kw_only=True):
    version: str
    supported_commands: tuple[AgentCommand, ...] = ()


class GuestOs(Struct, frozen=True, kw_only=True, rename="kebab"):
    id: str = ""
    name: str = ""
    pretty_name: str = ""
    version: str = ""
    version_id: str = ""
    kernel_release: str = ""
    kernel_version: str = ""
    machine: str = ""


class GuestHostname(Struct, frozen=True, kw_only=True, rename="kebab"):
    host_name: str


class GuestTimezone(Struct, frozen=True, kw_only=True):
    zone: str = ""
    offset: int = 0
    """Seconds east of Greenwich."""


class GuestUser(Struct, frozen=True, kw_only=True, rename="kebab"):
    """Somebody who is logged in."""

    user: str
    domain: str = ""
    login_time: float = 0.0
    """Seconds since 1970."""


class GuestDisk(Struct, frozen=True, kw_only=True, rename="kebab"):
    bus_type: str = ""
    serial: str = ""
    dev: str = ""


class GuestFilesystem(Struct, frozen=True, kw_only=True, rename="kebab"):
    name: str
    mountpoint: str
    type: str
    used_bytes: int | None = None
    total_bytes: int | None = None
    disk: tuple[GuestDisk, ...] = ()


class GuestAddress(Struct, frozen=True, kw_only=True, rename="kebab"):
    ip_address: str
    ip_address_type: str = "ipv4"
    prefix: int = 0


class GuestInterface(Struct, frozen=True, kw_only=True, rename="kebab"):
    name: str
    hardware_address: str = ""
    ip_addresses: tuple[GuestAddress, ...] = ()


class ExecStarted(Struct, frozen=True, kw_only=True):
    pid: int


class ExecStatus(Struct, frozen=True, kw_only=True, rename="kebab"):
    exited: bool
    exitcode: int | None = None
    signal: int | None = None
    out_data: str = ""
    err_data: str = ""
    out_truncated: bool = False
    err_truncated: bool = False


class SshKeys(Struct, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ()


def answer_from(text: str, kind: type[T], *, limit: int = ANSWER_LIMIT) -> T:
    """What the agent returned, as the type that was asked for."""
    with _errors_told():
        return _bounded(msgspec.json.decode(_returned(text, limit), type=kind))


def list_from(text: str, kind: type[T]) -> tuple[T, ...]:
    """A list of that type; one of many items is cut before they are looked at."""
    with _errors_told():
        items = msgspec.json.decode(_returned(text, ANSWER_LIMIT), type=list[msgspec.Raw])[
            :ITEM_LIMIT
        ]
        return tuple(_bounded(msgspec.json.decode(each, type=kind)) for each in items)


class _Answer(Struct, frozen=True):
    returned: msgspec.Raw = msgspec.field(name="return")


def _returned(text: str, limit: int) -> msgspec.Raw:
    if len(text) > limit:
        raise AgentError(
            f"the guest's agent answered with {len(text)} characters; too many to read"
        )
    return msgspec.json.decode(text, type=_Answer).returned


@contextmanager
def _errors_told() -> Iterator[None]:
    try:
        yield
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        # Its words name places and types, never values.
        why = " ".join(str(error).split())[:200]
        raise AgentError(f"the guest's agent answered with something else: {why}") from None


def _bounded(value: T) -> T:
    """The same, with each text and each list cut to its limit."""
    return cast("T", _cut(value))


def _cut(value: Any) -> Any:
    if isinstance(value, ExecStatus):
        return value
    if isinstance(value, str):
        return value[:TEXT_LIMIT]
    if isinstance(value, tuple):
        return tuple(_cut(each) for each in value[:ITEM_LIMIT])
    if isinstance(value, Struct):
        fields = value.__struct_fields__
        return type(value)(**{name: _cut(getattr(value, name)) for name in fields})
    return value
