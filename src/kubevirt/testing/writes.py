"""What was written to a home's API server, by whom and when: its audit log, read.

    by_programs = [each for each in writes(home.path / "audit.log", "default") if each.is_of_kubevirt]

Events, leases and questions about rights are told apart: a life may tell as much as it likes, a lease is a
heartbeat, and of a question nothing is kept.
"""

from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.virt.install import rights

VERBS: Final = frozenset({"create", "update", "patch", "delete", "deletecollection"})
APART: Final = frozenset({"events", "leases", "subjectaccessreviews"})
PROGRAMS: Final = frozenset(each.account for each in rights.PROGRAMS)


class Write(msgspec.Struct, frozen=True, kw_only=True):
    began: float
    """When the server got it, by the wall clock."""
    ended: float
    writer: str
    """The last part of a user's name."""
    verb: str
    resource: str
    """With its subresource: pods/status."""
    namespace: str
    name: str
    code: int

    @property
    def is_of_kubevirt(self) -> bool:
        return self.writer in PROGRAMS and self.resource not in APART

    @property
    def words(self) -> str:
        return f"{self.writer} {self.verb} {self.resource}"


class _Reference(msgspec.Struct, frozen=True):
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""


class _User(msgspec.Struct, frozen=True):
    username: str = ""


class _Status(msgspec.Struct, frozen=True):
    code: int = 0


class _Entry(msgspec.Struct, frozen=True, rename="camel"):
    verb: str
    request_received_timestamp: datetime
    stage_timestamp: datetime
    user: _User = _User()
    object_ref: _Reference = _Reference()
    response_status: _Status = _Status()


_ENTRIES: Final = msgspec.json.Decoder(_Entry)


def writes(audit_log: Path, namespace: str | None = None) -> list[Write]:
    """In the order in which they came; of one namespace, or of all."""
    entries = map(_ENTRIES.decode, audit_log.read_bytes().splitlines())
    found = (_write(each) for each in entries if each.verb in VERBS)
    return sorted(
        (each for each in found if namespace in (None, each.namespace)), key=lambda it: it.began
    )


def _write(entry: _Entry) -> Write:
    about = entry.object_ref
    return Write(
        began=entry.request_received_timestamp.timestamp(),
        ended=entry.stage_timestamp.timestamp(),
        writer=entry.user.username.rpartition(":")[2],
        verb=entry.verb,
        resource=f"{about.resource}/{about.subresource}" if about.subresource else about.resource,
        namespace=about.namespace,
        name=about.name,
        code=entry.response_status.code,
    )
