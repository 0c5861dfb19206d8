"""Programs that run side by side: each one's output comes in one piece, and what ends us is passed on to them."""

import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


class Interrupted(Exception):  # noqa: N818  # somebody wanted it
    pass


class Programs:
    """Those that run at the moment. Ctrl-C reaches them too; they get the time to clean up."""

    def __init__(self) -> None:
        self.are_interrupted = False
        self._running: set[subprocess.Popen[bytes]] = set()

    def call(
        self,
        command: Sequence[str],
        folder: Path,
        env: Mapping[str, str] | None = None,
        output: IO[bytes] | None = None,
    ) -> int:
        """Runs one to its end, with our own output if it has none; in any thread."""
        if self.are_interrupted:
            raise Interrupted
        process = subprocess.Popen(command, cwd=folder, env=env, stdout=output, stderr=output)
        self._running.add(process)
        try:
            return process.wait()
        finally:
            self._running.discard(process)

    @contextmanager
    def heard(self) -> Iterator[None]:
        """While this lasts, what ends us is passed on."""

        def pass_on(number: int, _: FrameType | None) -> None:
            self.are_interrupted = True
            for process in list(self._running):
                process.send_signal(number)

        before = signal.signal(signal.SIGTERM, pass_on)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)

    def each(
        self,
        jobs: Sequence[Job],
        do: Callable[[Job], Result],
        choose: Callable[[Sequence[Job], Sequence[Job]], Job | None],
    ) -> Iterator[Result]:
        """What `do` makes of each job, as they end. `choose` says which of the waiting ones may begin beside
        those that run.
        """
        waiting, running = list(jobs), dict[Future[Result], Job]()
        with ThreadPoolExecutor(max_workers=len(jobs) or 1) as lanes, self.heard():
            while running or (waiting and not self.are_interrupted):
                while (
                    not self.are_interrupted
                    and (job := choose(waiting, list(running.values()))) is not None
                ):
                    waiting.remove(job)
                    running[lanes.submit(do, job)] = job
                for ended in self._wait_for_one(running):
                    del running[ended]
                    if not self.are_interrupted:
                        yield ended.result()
        if self.are_interrupted:
            raise Interrupted

    def _wait_for_one(self, running: Mapping[Future[Result], Job]) -> set[Future[Result]]:
        while True:
            try:
                return wait(running, return_when=FIRST_COMPLETED).done
            except KeyboardInterrupt:
                self.are_interrupted = True


@contextmanager
def in_one_piece(title: str) -> Iterator[IO[bytes]]:
    """A place for output, which is shown when all of it is there."""
    with tempfile.TemporaryFile() as output:
        try:
            yield output
        finally:
            output.seek(0)
            print(title, flush=True)
            shutil.copyfileobj(output, sys.stdout.buffer)
            sys.stdout.buffer.flush()
