"""The ear of a launcher: a notify server of its own, in its own folder.

gRPC does not tell which socket a call came by, so each launcher has a server to itself. Who speaks is known
before the first word: what a message says of its sender only has to fit.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Protocol, TypeVar

import msgspec

from kubevirt.api.core.event import Event
from kubevirt.base.errors import UserError
from kubevirt.base.files import Root
from kubevirt.components.handler.launchers.identity import Identity
from kubevirt.rpc import notify, reports
from kubevirt.rpc.messages import notify_info_pb2, notify_pb2
from kubevirt.rpc.serving import serving

NAME: Final = "domain-notify-pipe.sock"
_DRAFT: Final = ".domain-notify-pipe.sock"
REPORT_LIMIT: Final = 256 << 10
EVENT_LIMIT: Final = 16 << 10
_KINDS: Final = frozenset({reports.ADDED, reports.MODIFIED, reports.DELETED})
_HEARD: Final = notify_pb2.Response(success=True)

T = TypeVar("T")


class Listener(Protocol):
    """Who is told."""

    def heard(self, report: reports.Domain, *, is_last: bool) -> None: ...

    def happened(self, event: Event) -> None: ...


@asynccontextmanager
async def listening(
    public: Root, whose: Identity, listener: Listener, user: int
) -> AsyncIterator[None]:
    """Listens while the body runs. The socket has its name once its owner may speak to it."""
    public.unlink(_DRAFT, missing_ok=True)
    with public.bindable(_DRAFT) as address:
        services = {notify.SERVICE: (ear := _Ear(whose, listener)), notify.INFO_SERVICE: ear}
        async with serving(address, services):
            public.chown(_DRAFT, user, user)
            folder = os.path.dirname(address)  # noqa: PTH120  # a descriptor, no path
            os.rename(f"{folder}/{_DRAFT}", f"{folder}/{NAME}")  # noqa: PTH104
            yield


class _Ear:
    def __init__(self, whose: Identity, listener: Listener) -> None:
        self._whose = whose
        self._listener = listener

    async def info(
        self, _: notify_info_pb2.NotifyInfoRequest
    ) -> notify_info_pb2.NotifyInfoResponse:
        return notify_info_pb2.NotifyInfoResponse(supportedNotifyVersions=["v1"])

    async def handle_domain_event(
        self, request: notify_pb2.DomainEventRequest
    ) -> notify_pb2.Response:
        if request.eventType in _KINDS:
            report = understood(request.domainJSON, self._whose)
            self._listener.heard(report, is_last=request.eventType == reports.DELETED)
        return _HEARD

    async def handle_k8s_event(self, request: notify_pb2.K8sEventRequest) -> notify_pb2.Response:
        event = _decoded(request.eventJSON, EVENT_LIMIT, Event)
        self._listener.happened(event)
        return _HEARD


def understood(text: bytes | str, whose: Identity) -> reports.Domain:
    """The report, if it is one of that instance."""
    report = _decoded(text, REPORT_LIMIT, reports.Domain)
    if report.object_meta.uid != whose.uid:
        raise UserError(
            f"this is the ear of the launcher of {whose.key} with UID {whose.uid}, and the report "
            f"is of another instance",
            reason="WrongInstance",
        )
    return report


def _decoded(text: bytes | str, limit: int, kind: type[T]) -> T:
    if len(text) > limit:
        raise UserError(f"a message of {len(text)} bytes is too large; {limit} are taken")
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UserError(f"the message cannot be understood: {error}") from None
