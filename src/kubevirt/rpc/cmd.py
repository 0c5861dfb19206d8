"""What a handler asks of a launcher, as Python sees it: data in, data out, refusals raised.

A VMI travels as JSON, so that both ends may know different fields of it.
"""

from typing import NamedTuple, TypeVar

from google.protobuf.message import Message

from kubevirt.rpc.calling import Caller
from kubevirt.rpc.messages import cmd_info_pb2 as info
from kubevirt.rpc.messages import cmd_pb2 as cmd

SERVICE = cmd.DESCRIPTOR.services_by_name["Cmd"]
INFO_SERVICE = info.DESCRIPTOR.services_by_name["CmdInfo"]

SHORT_S, NORMAL_S, LONG_S = 5.0, 20.0, 60.0


M = TypeVar("M", bound=Message)


class Screenshot(NamedTuple):
    mime: str
    data: bytes


class Launcher:
    """A launcher, behind its socket."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def versions(self) -> list[str]:
        """Of the protocol, that it speaks; asked before anything else."""
        answer = await self._caller.call(
            INFO_SERVICE, "Info", info.CmdInfoRequest(), info.CmdInfoResponse, SHORT_S
        )
        return list(answer.supportedCmdVersions)

    async def ping(self) -> None:
        await self._ask("Ping", cmd.EmptyRequest(), cmd.Response, SHORT_S)

    # The life of the guest.

    async def sync(self, vmi: bytes, options: cmd.VirtualMachineOptions | None = None) -> str:
        """Makes the domain what the VMI says: starts it, or changes what may be changed. Returns what the
        guest's owner should know about a start, a line for each; mostly nothing.
        """
        request = cmd.VMIRequest(vmi=cmd.VMI(vmiJson=vmi), options=options)
        answer = await self._ask("SyncVirtualMachine", request, cmd.Response, NORMAL_S)
        return answer.message

    async def pause(self, vmi: bytes) -> None:
        await self._about("PauseVirtualMachine", vmi)

    async def unpause(self, vmi: bytes) -> None:
        await self._about("UnpauseVirtualMachine", vmi)

    async def freeze(self, vmi: bytes, unfreeze_after_s: int) -> None:
        request = cmd.FreezeRequest(
            vmi=cmd.VMI(vmiJson=vmi), unfreezeTimeoutSeconds=unfreeze_after_s
        )
        await self._ask("FreezeVirtualMachine", request, cmd.Response, LONG_S)

    async def unfreeze(self, vmi: bytes) -> None:
        await self._about("UnfreezeVirtualMachine", vmi)

    async def reset(self, vmi: bytes) -> None:
        await self._about("ResetVirtualMachine", vmi)

    async def soft_reboot(self, vmi: bytes) -> None:
        await self._about("SoftRebootVirtualMachine", vmi)

    async def shut_down(self, vmi: bytes) -> None:
        """Asks the guest to; whether it does is its own affair."""
        await self._about("ShutdownVirtualMachine", vmi)

    async def kill(self, vmi: bytes) -> None:
        await self._about("KillVirtualMachine", vmi)

    async def delete(self, vmi: bytes) -> None:
        """Forgets a domain that has ended."""
        await self._about("DeleteVirtualMachine", vmi)

    # What is known of it, as JSON.

    async def domain(self) -> str:
        """Empty where there is none."""
        answer = await self._ask("GetDomain", cmd.EmptyRequest(), cmd.DomainResponse, SHORT_S)
        return answer.domain

    async def stats(self) -> str:
        answer = await self._ask(
            "GetDomainStats", cmd.EmptyRequest(), cmd.DomainStatsResponse, SHORT_S
        )
        return answer.domainStats

    async def vm_stats(self, *wanted: str) -> cmd.VMStatsResponse:
        """Several answers at once, named as in the request; each says by itself whether it is one."""
        request = cmd.VMStatsRequest()
        for name in wanted:
            getattr(request, name).SetInParent()
        return await self._ask("GetVMStats", request, cmd.VMStatsResponse, NORMAL_S)

    async def guest_info(self) -> str:
        answer = await self._ask("GetGuestInfo", cmd.EmptyRequest(), cmd.GuestInfoResponse, SHORT_S)
        return answer.guestInfoResponse

    async def users(self) -> str:
        answer = await self._ask("GetUsers", cmd.EmptyRequest(), cmd.GuestUserListResponse, SHORT_S)
        return answer.guestUserListResponse

    async def filesystems(self) -> str:
        answer = await self._ask(
            "GetFilesystems", cmd.EmptyRequest(), cmd.GuestFilesystemsResponse, SHORT_S
        )
        return answer.guestFilesystemsResponse

    async def qemu_version(self) -> str:
        answer = await self._ask(
            "GetQemuVersion", cmd.EmptyRequest(), cmd.QemuVersionResponse, SHORT_S
        )
        return answer.version

    async def screenshot(self, vmi: bytes) -> Screenshot:
        request = cmd.VMIRequest(vmi=cmd.VMI(vmiJson=vmi))
        answer = await self._ask("GetScreenshot", request, cmd.ScreenshotResponse, NORMAL_S)
        return Screenshot(answer.mime, answer.data)

    # Through the guest agent.

    async def exec(
        self, domain: str, command: str, arguments: list[str], limit_s: int
    ) -> tuple[int, str]:
        """Exit code and output of a program in the guest."""
        request = cmd.ExecRequest(
            domainName=domain, Command=command, Args=arguments, timeoutSeconds=limit_s
        )
        answer = await self._ask("Exec", request, cmd.ExecResponse, limit_s + SHORT_S)
        return answer.exitCode, answer.stdOut

    async def guest_ping(self, domain: str, limit_s: int) -> None:
        request = cmd.GuestPingRequest(domainName=domain, timeoutSeconds=limit_s)
        await self._ask("GuestPing", request, cmd.GuestPingResponse, limit_s + SHORT_S)

    # Copies of it.

    async def dump_memory(self, vmi: bytes, path: str) -> None:
        """Begins; when it is over the domain's metadata say so."""
        request = cmd.MemoryDumpRequest(vmi=cmd.VMI(vmiJson=vmi), dumpPath=path)
        await self._ask("VirtualMachineMemoryDump", request, cmd.Response, LONG_S)

    async def _about(self, method: str, vmi: bytes) -> None:
        request = cmd.VMIRequest(vmi=cmd.VMI(vmiJson=vmi))
        await self._ask(method, request, cmd.Response, NORMAL_S)

    async def _ask(self, method: str, request: Message, answer: type[M], limit_s: float) -> M:
        return await self._caller.call(SERVICE, method, request, answer, limit_s)
