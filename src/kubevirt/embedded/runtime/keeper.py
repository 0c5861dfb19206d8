"""The keeper, ready to be run by us and inside of containers.

It is held in memory, sealed: what runs inside a container can see the file that it was started from, and
must not be able to change the program that the next container will be started by.
"""

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from kubevirt.base.commands import Completed, run
from kubevirt.base.errors import CommandFailed, ConfigError
from kubevirt.embedded.runtime.sandbox import Words

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
        sandbox: Words,
        *,
        lock: int,
        log: tuple[int, int],
        seccomp: int | None = None,
        network: str = "",
        image: str = "",
        cgroups: Sequence[str] = (),
    ) -> Completed:
        """Returns when the sandbox has begun, or is not going to."""
        place = (network or "-", image or "-", *cgroups)
        with words_as_file(sandbox.options) as options:
            given = [lock, self.fd, seccomp, options]
            return await run(
                *(self.path, "run", *("-" if each is None else str(each) for each in given)),
                *(*map(str, log), *place, "--", *sandbox.command),
                cwd=folder,
                pass_fds=[each for each in given if each is not None],
                timeout_s=START_S,
                check=False,
            )


@contextmanager
def words_as_file(words: Sequence[str]) -> Iterator[int]:
    """What is nobody else's to read, as command lines are. Each has a zero byte at its end: one that has
    such a byte inside would become two, and the second might be an option.
    """
    if any("\0" in word for word in words):
        raise CommandFailed("keeper", "cannot be run: a zero byte in a variable or a path")
    with os.fdopen(os.memfd_create("words", os.MFD_CLOEXEC), "wb+") as file:
        file.write("".join(f"{word}\0" for word in words).encode(errors="surrogateescape"))
        file.seek(0)
        yield file.fileno()
