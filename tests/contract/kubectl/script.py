"""A script of kubectl commands, run against one server: what it printed, word for word.

    get configmaps -o name
    & 2 4 get kettles --watch

A line is a command without its first word, quoted as for a shell; `@uid(KIND/NAME)` in it stands for the
uid of an object. One that goes on in the background begins with `&`: the next command is run once it has
printed the first number of lines, and it is ended after the second.
"""

import asyncio
import contextlib
import re
import shlex
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Protocol

import msgspec

from clusterup import processes

HERE = Path(__file__).parent
MANIFESTS = HERE / "manifests"
CHAPTERS = {path.stem: path for path in sorted((HERE / "chapters").glob("*.txt"))}
EDITOR = "sed -i -e s/blue/red/ -e s/degrees:.80/degrees:.50/"
_UID = re.compile(r"@uid\(([^)]+)\)")
_LIMIT_S = 120.0


class Step(msgspec.Struct, frozen=True):
    line: str
    words: tuple[str, ...]
    goes_on_after: int | None = None
    """Lines; None for a command that ends by itself."""
    ends_after: int = 0


class Said(msgspec.Struct, frozen=True):
    """What a command printed, and how it ended; None if it was ended."""

    step: Step
    stdout: str
    stderr: str = ""
    code: int | None = None


class Kubectl(Protocol):
    """A server with a kubectl beside it."""

    @property
    def kubectl(self) -> Path: ...

    @property
    def kubeconfig(self) -> Path: ...

    @property
    def folder(self) -> Path: ...


def steps(chapter: str) -> Iterator[Step]:
    for line in CHAPTERS[chapter].read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if not line.startswith("&"):
            yield Step(line, tuple(shlex.split(line)))
            continue
        _, first, last, *words = shlex.split(line)
        yield Step(line, tuple(words), int(first), int(last))


async def run(server: Kubectl, namespace: str, wanted: Iterable[Step]) -> list[Said]:
    said: list[Said] = []
    async with contextlib.AsyncExitStack() as stack:
        going: list[_Going] = []
        for step in wanted:
            if step.goes_on_after is None:
                said.append(await _ended(server, step, namespace))
                continue
            argv = _argv(server, namespace, step.words)
            going.append(await stack.enter_async_context(_started(server, step, argv)))
            await going[-1].has_printed(step.goes_on_after)
        for each in going:
            await each.has_printed(each.step.ends_after)
            said.append(Said(each.step, "".join(each.lines)))
    return said


async def kubectl(server: Kubectl, *words: str, namespace: str = "default") -> Said:
    """One command, to its end."""
    return await _ended(server, Step(" ".join(words), words), namespace)


async def _ended(server: Kubectl, step: Step, namespace: str) -> Said:
    words = [await _with_uids(server, namespace, word) for word in step.words]
    argv = _argv(server, namespace, words)
    done = await processes.run(*argv, check=False, limit_s=_LIMIT_S, env=_environment(server))
    return Said(step, done.stdout, done.stderr, done.code)


async def _with_uids(server: Kubectl, namespace: str, word: str) -> str:
    while found := _UID.search(word):
        asked = ("get", found[1], "-o", "jsonpath={.metadata.uid}")
        uid = (await kubectl(server, *asked, namespace=namespace)).stdout
        word = word.replace(found[0], uid)
    return word


def _argv(server: Kubectl, namespace: str, words: Iterable[str]) -> list[str]:
    fixed = ["--kubeconfig", str(server.kubeconfig), "--namespace", namespace]
    return [str(server.kubectl), *fixed, *map(_with_folder, words)]


def _with_folder(word: str) -> str:
    """Files are named as they lie in the folder of manifests."""
    option, equals, name = word.rpartition("=")
    path = MANIFESTS / name
    return f"{option}{equals}{path}" if name.endswith(".yaml") and path.exists() else word


def _environment(server: Kubectl) -> dict[str, str]:
    # It lives for a moment: a third of that would go into collecting its garbage.
    # What an edit in vain leaves behind goes with the server.
    return processes.plain_environment(
        HOME=str(server.folder), TMPDIR=str(server.folder), KUBE_EDITOR=EDITOR, GOGC="off"
    )


class _Going:
    """A command in the background."""

    def __init__(self, step: Step, output: asyncio.StreamReader) -> None:
        self.step = step
        self.lines: list[str] = []
        self._output = output

    async def has_printed(self, count: int) -> None:
        try:
            async with asyncio.timeout(_LIMIT_S):
                while len(self.lines) < count and (line := await self._output.readline()):
                    self.lines.append(line.decode())
        except TimeoutError:
            self.lines.append("… and no more\n")


@contextlib.asynccontextmanager
async def _started(server: Kubectl, step: Step, argv: list[str]) -> AsyncIterator[_Going]:
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=_environment(server),
    )
    assert process.stdout
    try:
        yield _Going(step, process.stdout)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()
