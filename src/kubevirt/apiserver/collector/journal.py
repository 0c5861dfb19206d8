"""The collector's deeds in the audit log: whoever asks who deleted an object finds an answer there.

They are written down as if they had come over the wire, as they do in Kubernetes.
"""

from datetime import datetime
from typing import Final, Protocol

from kubevirt.apiserver.auth import audit
from kubevirt.apiserver.auth.audit_log import AuditLog
from kubevirt.apiserver.auth.authentication import Caller
from kubevirt.apiserver.http import asked
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry.call import Call
from kubevirt.base.clock import Clock

_METHODS: Final = {
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETE",
}


class Journal(Protocol):
    def note(self, call: Call, began: datetime, refused: Refusal | None) -> None: ...


class NoJournal:
    """Where nobody asks."""

    def note(self, call: Call, began: datetime, refused: Refusal | None) -> None: ...


class AuditJournal:
    def __init__(self, log: AuditLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    def note(self, call: Call, began: datetime, refused: Refusal | None) -> None:
        path = _path(call)
        request = audit.Request(
            id=audit.new_id(),
            uri=path,
            asked=asked.read(_METHODS[call.verb], path, {}),
            received_at=began,
            caller=Caller(call.identity, call.identity),
            user_agent=call.user_agent,
        )
        code, words = 201 if call.verb == "create" else 200, None
        if refused:
            status = refused.status
            code = status.code
            words = {"status": status.status, "message": status.message, "reason": status.reason}
        self._log.write(audit.event(request, code, self._clock.now(), words))


def _path(call: Call) -> str:
    kind = call.kind
    root = f"/apis/{kind.group}" if kind.group else "/api"
    parts = [root, call.version.name]
    if kind.namespaced:
        parts += ["namespaces", call.namespace]
    parts += [each for each in (kind.names.plural, call.name, call.subresource) if each]
    return "/".join(parts)
