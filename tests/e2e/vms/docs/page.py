r"""The commands of a page of documentation, run as a reader would: in order, in one shell, from a fresh namespace.

Blocks marked `sh` are commands; what stands in other blocks is to be read. A block in which the reader types something
says in a comment above it, which no reader sees, what is waited for and what is typed then (`^]` is Ctrl+]):

    <!-- typed: login: => cirros | Password: => gocubsgo | $ => ^] -->

What brings up or changes a whole home says so there as well, and is run in one of its own:

    <!-- of the home -->
"""

import os
import pty
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.standalone.driver import Session

LIMIT_S = 400.0
"""For one block, to end a hang: it may well boot a guest."""
_BLOCK = re.compile(
    r"(?:^<!-- (?:typed: (?P<typed>.*?)|(?P<home>of the home)) -->\n+)?^```(?P<kind>\w*)\n(?P<commands>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_LEAVE = {"^]": "\x1d"}


@dataclass(frozen=True)
class Block:
    line: int
    """Where it begins in the page."""
    commands: str
    typed: tuple[tuple[str, str], ...] = ()
    """What is waited for, and what is typed then."""
    is_of_the_home: bool = False
    is_run: bool = True
    """What is only to be read has no kind, or another one."""


def blocks(text: str) -> Iterator[Block]:
    """Those that are run, in order."""
    return (block for block in fenced(text) if block.is_run)


def fenced(text: str) -> Iterator[Block]:
    for found in _BLOCK.finditer(text):
        yield Block(
            line=text.count("\n", 0, found.start("commands")),
            commands=found["commands"],
            typed=tuple(_answers(found["typed"] or "")),
            is_of_the_home=bool(found["home"]),
            is_run=found["kind"] == "sh",
        )


def _answers(said: str) -> Iterator[tuple[str, str]]:
    for each in filter(None, said.split(" | ")):
        wanted, _, answer = each.partition(" => ")
        yield wanted, _LEAVE.get(answer, f"{answer}\n")


@dataclass(frozen=True)
class Reader:
    """Somebody with a shell in the checkout."""

    environment: Mapping[str, str]
    checkout: Path
    folder: Path
    """For what has to be kept from block to block."""

    def do(self, block: Block) -> str:
        """What it said; fails as the first command that does."""
        return self._typing(block) if block.typed else self._running(block.commands)

    def _running(self, commands: str) -> str:
        # What a block starts in the background goes on until the page ends.
        with (self.folder / "said").open("w+b") as said:
            process = subprocess.Popen(
                ["bash", "-eu", "-o", "pipefail", "-c", commands],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                env=dict(self.environment),
                cwd=self.checkout,
                process_group=0,
            )
            self._remember(process.pid)
            try:
                code = process.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                code = -1
            said.seek(0)
            text = said.read().decode(errors="replace")
        assert code == 0, f"{commands}\nended with {code}:\n{text}"
        return text

    def _typing(self, block: Block) -> str:
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            ["setsid", "--ctty", "bash", "-eu", "-c", block.commands],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=dict(self.environment),
            cwd=self.checkout,
        ) as process:
            session = Session(process, ours, ours, terminal=theirs)
            try:
                for wanted, answer in block.typed:
                    session.until(wanted)
                    session.type(answer)
                assert process.wait(LIMIT_S) == 0, session.screen
                return session.screen
            finally:
                session.give_up()
                session.close_window()

    def _remember(self, group: int) -> None:
        with (self.folder / "groups").open("a") as file:
            file.write(f"{group}\n")

    def leave(self) -> None:
        """Ends what was started in the background."""
        file = self.folder / "groups"
        for group in file.read_text().split() if file.exists() else []:
            _end(int(group))


def _end(group: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            os.killpg(group, signal.SIGTERM)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.killpg(group, signal.SIGKILL)
