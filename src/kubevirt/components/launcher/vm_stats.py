"""GetVMStats: several questions in one call, each answered or refused by itself.

What the guest's agent has told anyway is passed on, in its own spelling; nothing is asked of it for this. A request
names what it wants by the fields that are present in it.
"""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from kubevirt.components.launcher.guest_agent import Knowledge
from kubevirt.host.libvirt.agent_answers import GuestHostname, GuestOs
from kubevirt.rpc.messages import cmd_pb2 as cmd

NO_DIRTY_RATE: Final = (
    "this launcher does not measure how quickly the guest changes its memory; nothing migrates yet"
)
NO_AGENT: Final = "the guest has no agent that answers"
NOT_YET: Final = "the guest's agent has not told that yet; ask again"

_KNOWN: Final[Mapping[str, Callable[[Knowledge], object]]] = {
    "guestGetUsers": lambda it: it.users,
    "guestGetOsInfo": lambda it: it.os if it.os != GuestOs() else None,
    "guestGetHostName": lambda it: GuestHostname(host_name=it.hostname) if it.hostname else None,
    "guestGetTimezone": lambda it: it.timezone,
    "guestNetworkGetInterfaces": lambda it: it.interfaces,
}
"""By the name of the field; None: not told yet."""


def vm_stats(request: cmd.VMStatsRequest, known: Knowledge | None) -> cmd.VMStatsResponse:
    """All but the statistics of the domain, which are libvirt's. `known` is None if there is no agent."""
    answer = cmd.VMStatsResponse(response=cmd.Response(success=True))
    if request.HasField("dirtyRate"):
        answer.dirtyRateStats.response.CopyFrom(_no(NO_DIRTY_RATE))
    asked = [field.name for field, _ in request.ListFields() if field.name.startswith("guest")]
    if asked:
        answer.guestAgentVersion.CopyFrom(_version(known))
    for name in asked:
        getattr(answer, name).CopyFrom(_told(name, known))
    return answer


def _version(known: Knowledge | None) -> cmd.Response:
    if known is None:
        return _no(NO_AGENT)
    return cmd.Response(success=True, message=known.info.version) if known.info else _no(NOT_YET)


def _told(name: str, known: Knowledge | None) -> cmd.Response:
    if name not in _KNOWN:
        return _no(f"this launcher does not ask a guest's agent for {name}")
    if known is None:
        return _no(NO_AGENT)
    found = _KNOWN[name](known)
    if found is None:
        return _no(NOT_YET)
    return cmd.Response(success=True, message=msgspec.json.encode(found).decode())


def _no(why: str) -> cmd.Response:
    return cmd.Response(success=False, message=why)
