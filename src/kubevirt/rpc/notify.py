"""What a launcher tells its handler, as Python sees it."""

from kubevirt.rpc.calling import Caller
from kubevirt.rpc.messages import notify_info_pb2 as info
from kubevirt.rpc.messages import notify_pb2 as notify

SERVICE = notify.DESCRIPTOR.services_by_name["Notify"]
INFO_SERVICE = info.DESCRIPTOR.services_by_name["NotifyInfo"]

LIMIT_S = 5.0


class Handler:
    """A handler, behind its socket."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def versions(self) -> list[str]:
        """Of the protocol, that it takes."""
        answer = await self._caller.call(
            INFO_SERVICE, "Info", info.NotifyInfoRequest(), info.NotifyInfoResponse, LIMIT_S
        )
        return list(answer.supportedNotifyVersions)

    async def domain_event(self, kind: str, domain: bytes, status: bytes = b"") -> None:
        """`kind` is ADDED, MODIFIED, DELETED or ERROR; with the last comes a `Status` of Kubernetes."""
        request = notify.DomainEventRequest(domainJSON=domain, statusJSON=status, eventType=kind)
        await self._caller.call(SERVICE, "HandleDomainEvent", request, notify.Response, LIMIT_S)

    async def kubernetes_event(self, event: bytes) -> None:
        """An event for the user, to be recorded by the handler: a launcher has no rights of its own."""
        request = notify.K8sEventRequest(eventJSON=event)
        await self._caller.call(SERVICE, "HandleK8sEvent", request, notify.Response, LIMIT_S)
