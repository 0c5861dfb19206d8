"""The keeper, ready to be run by us and inside of containers.

It is held in memory, sealed: what runs inside a container can see the file that it was started from, and
must not be able to change the program that the next container will be started by.
"""

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from kubevirt.base.commands import Completed, run
from kubevirt.base.errors import ConfigError

_SEALS: Final = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
START_S: Final = 30.0


class Keeper:
    def __init__(self, fd: int) -> None:
        """Takes over `fd`."""
        self.fd = fd

    @classmethod
    def open(cls, program: Path) -> Self:
        try:
            content = program.read_bytes()
        except FileNotFoundError:
            raise ConfigError(
                f"there is no {program}, which keeps containers; build it with keeper/build.sh"
            ) from None
        fd = os.memfd_create("keeper", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        with open(fd, "wb", closefd=False) as file:
            file.write(content)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
        return cls(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self.fd)

    @property
    def path(self) -> str:
        """For whoever has the file open."""
        return f"/proc/self/fd/{self.fd}"

    async def start(
        self,
        folder: Path,
        sandbox: Sequence[str],
        *,
        lock: int,
        log: tuple[int, int],
        seccomp: int | None = None,
        network: str = "",
        image: str = "",
        cgroups: Sequence[str] = (),
    ) -> Completed:
        """Returns when the sandbox has begun, or is not going to."""
        given = [str(lock), str(self.fd), "-" if seccomp is None else str(seccomp)]
        place = (network or "-", image or "-", *cgroups)
        return await run(
            *(self.path, "run", *given, *map(str, log), *place, "--", *sandbox),
            cwd=folder,
            pass_fds=[lock, self.fd, *([] if seccomp is None else [seccomp])],
            timeout_s=START_S,
            check=False,
        )
