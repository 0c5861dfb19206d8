"""Containers for tests: a script each, run to its end or until it has said something."""

import asyncio
import os
from collections.abc import Callable
from typing import Any, Final

import msgspec

from kubevirt.embedded.runtime.attempt import Attempt, Ending
from kubevirt.embedded.runtime.container import Container
from kubevirt.embedded.runtime.keeper import Keeper

LIMIT_S: Final = 60.0
PATH: Final = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}
IS_ROOT: Final = os.geteuid() == 0
ONLY_ROOT: Final = "sandboxes of pods are made by root"


def shell(script: str, **more: Any) -> Container:
    plain = Container(command=["sh", "-c", script], environment=PATH)
    return msgspec.structs.replace(plain, **more)


def python(script: str, **more: Any) -> Container:
    plain = Container(command=["/usr/bin/python3", "-c", script], environment=PATH)
    return msgspec.structs.replace(plain, **more)


async def ran(
    attempt: Attempt, container: Container, keeper: Keeper, seccomp: int | None = None
) -> Ending:
    await attempt.start(container, keeper, seccomp)
    async with asyncio.timeout(LIMIT_S):
        return await attempt.ended()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not holds():  # noqa: ASYNC110  # what is waited for is in files
            await asyncio.sleep(0.01)


def said(attempt: Attempt) -> str:
    """All of it, without times and streams."""
    file = attempt.folder / "log"
    lines = file.read_text(errors="replace").splitlines() if file.exists() else []
    return "\n".join(line.split(" ", 3)[-1] for line in lines)
