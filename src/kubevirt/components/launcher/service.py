"""The Cmd service: what a handler may ask, each call put to whom it concerns.

A call that changes something runs to its end, even if the handler no longer waits for the answer: a start that
is left half done helps nobody. Refusals and failures are raised, and told to the caller by `rpc.serving`.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import msgspec

from kubevirt.base.errors import UserError
from kubevirt.components.launcher.guest_answers import agent_info, filesystem_list, user_list
from kubevirt.components.launcher.parts import Parts
from kubevirt.components.launcher.preparer import PreparerDied
from kubevirt.components.launcher.statistics import statistics
from kubevirt.components.launcher.vm_stats import vm_stats
from kubevirt.host.libvirt.errors import NoSuchDomainError
from kubevirt.rpc import reports, stats
from kubevirt.rpc.messages import cmd_info_pb2 as info
from kubevirt.rpc.messages import cmd_pb2 as cmd
from kubevirt.virt.errors import shown

T = TypeVar("T")

VERSIONS = ("v1",)
DONE = cmd.Response(success=True)
LONGEST_EXEC_S = 60.0


class Service:
    def __init__(self, parts: Parts) -> None:
        self._guest = parts.guest
        self._power = parts.power
        self._picture = parts.picture
        self._agent = parts.agent
        self._asking = parts.asking
        self._freezer = parts.freezer
        self._dumps = parts.dumps
        self._qemu = parts.qemu
        self._tasks = parts.tasks

    async def info(self, _: info.CmdInfoRequest) -> info.CmdInfoResponse:
        return info.CmdInfoResponse(supportedCmdVersions=VERSIONS)

    async def ping(self, _: cmd.EmptyRequest) -> cmd.Response:
        """The manager is there; of libvirt and the guest this says nothing."""
        return DONE

    # The life of the guest.

    async def sync_virtual_machine(self, request: cmd.VMIRequest) -> cmd.Response:
        options = request.options.SerializeToString() if request.HasField("options") else None
        notes = await self._outcome(self._guest.sync(request.vmi.vmiJson, options))
        return cmd.Response(success=True, message=notes)

    async def pause_virtual_machine(self, _: cmd.VMIRequest) -> cmd.Response:
        return await self._done(self._power.pause())

    async def unpause_virtual_machine(self, _: cmd.VMIRequest) -> cmd.Response:
        return await self._done(self._power.unpause())

    async def reset_virtual_machine(self, _: cmd.VMIRequest) -> cmd.Response:
        return await self._done(self._power.reset())

    async def soft_reboot_virtual_machine(self, _: cmd.VMIRequest) -> cmd.Response:
        return await self._done(self._power.soft_reboot())

    async def shutdown_virtual_machine(self, _: cmd.VMIRequest) -> cmd.Response:
        return await self._done(self._power.shut_down())

    async def kill_virtual_machine(self, _: cmd.VMIRequest) -> cmd.Response:
        return await self._done(self._guest.kill("virt-handler asked for it"))

    async def delete_virtual_machine(self, _: cmd.VMIRequest) -> cmd.Response:
        """There is nothing to forget: libvirt keeps nothing of a guest that has ended."""
        if await self._guest.domain.exists():
            raise UserError("the guest still runs; kill it, then it can be deleted")
        return DONE

    # What is known of it.

    async def get_domain(self, _: cmd.EmptyRequest) -> cmd.DomainResponse:
        found = reports.encoded(self._picture.report).decode() if self._picture.exists else ""
        return cmd.DomainResponse(response=DONE, domain=found)

    async def get_domain_stats(self, _: cmd.EmptyRequest) -> cmd.DomainStatsResponse:
        domain = self._guest.domain
        found = statistics(await domain.read(), await domain.stats())
        return cmd.DomainStatsResponse(response=DONE, domainStats=stats.encoded(found).decode())

    async def get_vm_stats(self, request: cmd.VMStatsRequest) -> cmd.VMStatsResponse:
        """Without a guest a refusal as a whole, like that of its statistics alone."""
        answer = vm_stats(request, self._agent.knows if self._agent.is_connected else None)
        if request.HasField("domainStats"):
            answer.domainStats.CopyFrom(await self.get_domain_stats(cmd.EmptyRequest()))
        return answer

    async def get_qemu_version(self, _: cmd.EmptyRequest) -> cmd.QemuVersionResponse:
        return cmd.QemuVersionResponse(response=DONE, version=await self._qemu.version())

    async def get_screenshot(self, _: cmd.VMIRequest) -> cmd.ScreenshotResponse:
        image = await self._guest.domain.screenshot()
        return cmd.ScreenshotResponse(response=DONE, mime="image/png", data=image)

    # Through the guest's agent.

    async def get_guest_info(self, _: cmd.EmptyRequest) -> cmd.GuestInfoResponse:
        found = _json(agent_info(self._agent.knows))
        return cmd.GuestInfoResponse(response=DONE, guestInfoResponse=found)

    async def get_users(self, _: cmd.EmptyRequest) -> cmd.GuestUserListResponse:
        found = _json(user_list(self._agent.knows))
        return cmd.GuestUserListResponse(response=DONE, guestUserListResponse=found)

    async def get_filesystems(self, _: cmd.EmptyRequest) -> cmd.GuestFilesystemsResponse:
        found = _json(filesystem_list(self._agent.knows))
        return cmd.GuestFilesystemsResponse(response=DONE, guestFilesystemsResponse=found)

    async def exec(self, request: cmd.ExecRequest) -> cmd.ExecResponse:
        """A program in the guest; what it prints beyond the limit of an answer is cut."""
        self._check_name(request.domainName)
        ran = await self._asking.execute(
            request.Command, *request.Args, limit_s=_limit(request.timeoutSeconds)
        )
        output = ran.stdout.decode(errors="replace")
        code = ran.exit_code if ran.exit_code is not None else 128 + (ran.signal or 0)
        return cmd.ExecResponse(response=DONE, exitCode=code, stdOut=output)

    async def guest_ping(self, request: cmd.GuestPingRequest) -> cmd.GuestPingResponse:
        self._check_name(request.domainName)
        await self._asking.ping(int(_limit(request.timeoutSeconds)))
        return cmd.GuestPingResponse(response=DONE)

    def _check_name(self, domain: str) -> None:
        """A probe that was meant for another guest must not be answered by this one."""
        if domain != self._guest.domain.name:
            raise UserError(
                f"this launcher has the guest {self._guest.domain.name}, not {shown(domain)}"
            )

    async def freeze_virtual_machine(self, request: cmd.FreezeRequest) -> cmd.Response:
        return await self._done(self._freezer.freeze(max(0, request.unfreezeTimeoutSeconds)))

    async def unfreeze_virtual_machine(self, _: cmd.VMIRequest) -> cmd.Response:
        return await self._done(self._freezer.thaw())

    # Copies of it.

    async def virtual_machine_memory_dump(self, request: cmd.MemoryDumpRequest) -> cmd.Response:
        return await self._done(self._dumps.begin(request.dumpPath))

    async def _done(self, work: Coroutine[Any, Any, object]) -> cmd.Response:
        await self._outcome(work)
        return DONE

    async def _outcome(self, work: Coroutine[Any, Any, T]) -> T:
        """It goes on even if the caller does not stay for it."""
        task = self._tasks.create_task(_as_outcome(work))
        outcome = await asyncio.shield(task)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def _limit(seconds: int) -> float:
    """A probe's own limit; one that names none, or an endless one, has ours."""
    return float(seconds) if 0 < seconds < LONGEST_EXEC_S else LONGEST_EXEC_S


def _json(value: msgspec.Struct) -> str:
    return msgspec.json.encode(value).decode()


async def _as_outcome(work: Coroutine[Any, Any, T]) -> T | Exception:
    """A failure is the caller's to hear, and does not end the manager; but for one that only that mends."""
    try:
        return await work
    except PreparerDied:
        raise
    except NoSuchDomainError:
        return UserError("there is no guest in this launcher")
    except Exception as error:  # noqa: BLE001  # it is raised where the caller waits
        return error
