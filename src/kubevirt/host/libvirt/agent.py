"""The agent inside a guest: asked through libvirt, one question at a time, with a limit for each.

It may be away, slow, old, or an enemy. Each question ends within its time; what comes back passes
`agent_answers.py`. One question at a time, because libvirt would let the second wait longer than its
own limit, and then everything would be cut off.
"""

import asyncio
import base64
import binascii
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import libvirt
import libvirt_qemu
import msgspec

from kubevirt.base.clock import Clock
from kubevirt.host.libvirt.agent_answers import (
    DATA_LIMIT,
    OUTPUT_LIMIT,
    AgentInfo,
    ExecStarted,
    ExecStatus,
    GuestFilesystem,
    GuestHostname,
    GuestInterface,
    GuestOs,
    GuestTimezone,
    GuestUser,
    SshKeys,
    answer_from,
    list_from,
)
from kubevirt.host.libvirt.connection import Caller
from kubevirt.host.libvirt.errors import AgentError, LibvirtError, NoSuchDomainError

QUESTION_LIMIT_S: Final = 5
FREEZE_LIMIT_S: Final = 60
"""A guest first writes what it has in memory."""

_LIBVIRTS_OWN_S: Final = 12
"""Before each question libvirt makes sure of the agent, with two tries of five seconds."""

_FIRST_LOOK_S: Final = 0.02
_LAST_LOOK_S: Final = 0.5


class Executed(msgspec.Struct, frozen=True, kw_only=True):
    """A program that ran in the guest."""

    exit_code: int | None
    """None if a signal ended it."""
    signal: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    truncated: bool = False
    """Whether there was more output than is told here."""


class Agent:
    """Of one guest. Make one and keep it: it is what keeps questions in a row."""

    def __init__(self, caller: Caller, domain: str, *, clock: Clock) -> None:
        self._caller = caller
        self._domain = domain
        self._clock = clock
        self._turn = asyncio.Lock()

    async def ping(self, limit_s: int = QUESTION_LIMIT_S) -> None:
        """Returns if somebody is there."""
        await self._ask("guest-ping", limit_s=limit_s)

    async def info(self) -> AgentInfo:
        return answer_from(await self._ask("guest-info"), AgentInfo)

    async def os(self) -> GuestOs:
        return answer_from(await self._ask("guest-get-osinfo"), GuestOs)

    async def hostname(self) -> str:
        return answer_from(await self._ask("guest-get-host-name"), GuestHostname).host_name

    async def timezone(self) -> GuestTimezone:
        return answer_from(await self._ask("guest-get-timezone"), GuestTimezone)

    async def users(self) -> tuple[GuestUser, ...]:
        return list_from(await self._ask("guest-get-users"), GuestUser)

    async def filesystems(self) -> tuple[GuestFilesystem, ...]:
        return list_from(await self._ask("guest-get-fsinfo"), GuestFilesystem)

    async def interfaces(self) -> tuple[GuestInterface, ...]:
        return list_from(await self._ask("guest-network-get-interfaces"), GuestInterface)

    async def set_password(self, user: str, password: str, *, crypted: bool = False) -> None:
        """For access credentials by the agent, which are not built yet, as the two below; tests/component/host holds
        the three.
        """
        secret = base64.b64encode(password.encode()).decode()
        arguments = {"username": user, "password": secret, "crypted": crypted}
        await self._ask("guest-set-user-password", arguments)

    async def ssh_keys(self, user: str) -> tuple[str, ...]:
        answer = await self._ask("guest-ssh-get-authorized-keys", {"username": user})
        return answer_from(answer, SshKeys).keys

    async def set_ssh_keys(self, user: str, keys: Sequence[str]) -> None:
        """These and no others."""
        arguments = {"username": user, "keys": list(keys), "reset": True}
        await self._ask("guest-ssh-add-authorized-keys", arguments)

    async def freeze(self, limit_s: int = FREEZE_LIMIT_S) -> int:
        """Number of file systems that now hold still."""
        return answer_from(await self._ask("guest-fsfreeze-freeze", limit_s=limit_s), int)

    async def thaw(self, limit_s: int = FREEZE_LIMIT_S) -> int:
        return answer_from(await self._ask("guest-fsfreeze-thaw", limit_s=limit_s), int)

    async def is_frozen(self) -> bool:
        return answer_from(await self._ask("guest-fsfreeze-status"), str) == "frozen"

    async def execute(
        self, program: str, *args: str, stdin: bytes | None = None, limit_s: float = 30.0
    ) -> Executed:
        """Runs a program in the guest. Past the limit it is left running there: nobody can end it."""
        question: dict[str, Any] = {"path": program, "arg": list(args), "capture-output": True}
        if stdin is not None:
            question["input-data"] = base64.b64encode(stdin).decode()
        try:
            async with self._clock.timeout(limit_s):
                started = answer_from(await self._ask("guest-exec", question), ExecStarted)
                return _executed(await self._end_of(started.pid))
        except TimeoutError:
            raise AgentError(
                f"{program[:80]!r} has not ended in the guest after {limit_s:g} s; it goes on there"
            ) from None

    async def _end_of(self, pid: int) -> ExecStatus:
        """Looks now and then, since the agent has no way to tell."""
        pause = _FIRST_LOOK_S
        while True:
            answer = await self._ask("guest-exec-status", {"pid": pid})
            status = answer_from(answer, ExecStatus, limit=OUTPUT_LIMIT)
            if status.exited:
                return status
            await self._clock.sleep(pause)
            pause = min(2 * pause, _LAST_LOOK_S)

    async def _ask(
        self,
        command: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        limit_s: int = QUESTION_LIMIT_S,
    ) -> str:
        question = {"execute": command} | ({"arguments": arguments} if arguments else {})
        text = msgspec.json.encode(question).decode()

        def ask(it: libvirt.virConnect) -> str:
            return libvirt_qemu.qemuAgentCommand(it.lookupByName(self._domain), text, limit_s, 0)

        call_limit_s = limit_s + _LIBVIRTS_OWN_S
        async with self._my_turn(call_limit_s):
            try:
                return await self._caller.call(
                    f"ask the guest's agent ({command})", ask, limit_s=call_limit_s
                )
            except NoSuchDomainError:
                raise
            except LibvirtError as error:
                raise AgentError(str(error), code=error.code) from None

    @asynccontextmanager
    async def _my_turn(self, limit_s: float) -> AsyncIterator[None]:
        try:
            async with self._clock.timeout(limit_s):
                await self._turn.acquire()
        except TimeoutError:
            raise AgentError(
                f"the guest's agent is busy with other questions for {limit_s:g} s; try again"
            ) from None
        try:
            yield
        finally:
            self._turn.release()


def _executed(status: ExecStatus) -> Executed:
    stdout, stderr = _decoded(status.out_data), _decoded(status.err_data)
    is_cut = max(len(stdout), len(stderr)) > DATA_LIMIT
    return Executed(
        exit_code=status.exitcode,
        signal=status.signal,
        stdout=stdout[:DATA_LIMIT],
        stderr=stderr[:DATA_LIMIT],
        truncated=is_cut or status.out_truncated or status.err_truncated,
    )


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise AgentError("the guest's agent told a program's output in no known form") from None
