"""What a process says of itself: steps, its log, and how it failed."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubevirt.base.errors import CommandFailed, ConfigError
from kubevirt.embedded.process import failures, progress
from kubevirt.embedded.process.log_file import LogFile
from kubevirt.embedded.process.progress import Began, Done, Event, Failed, Pipe, Ready, step

HOME = Path("/home")


class Heard:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def hear(self, event: Event) -> None:
        self.events.append(event)


def test_a_step_begins_and_is_done() -> None:
    heard = Heard()
    with step(heard, "network") as current:
        current.detail = "10.0.0.0/8"
    began, done = heard.events
    assert began == Began(step="network")
    assert isinstance(done, Done)
    assert (done.step, done.detail) == ("network", "10.0.0.0/8")


def test_a_step_that_fails_is_never_done() -> None:
    heard = Heard()
    with pytest.raises(ConfigError), step(heard, "network"):
        raise ConfigError("no")
    assert heard.events == [Began(step="network")]


def test_a_pipe_carries_events_and_ends_with_the_last_one() -> None:
    reading, writing = os.pipe()
    pipe = Pipe(writing)
    ready = Ready(url="https://x", kubeconfig="/k", nodes=("node01",), took_s=0.5)
    pipe.hear(Began(step="network"))
    pipe.hear(ready)
    pipe.hear(Began(step="nobody hears this"))
    with os.fdopen(reading, "rb") as lines:
        assert [progress.event(each) for each in lines] == [Began(step="network"), ready]


def test_a_pipe_that_nobody_reads_harms_nobody() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    pipe = Pipe(writing)
    pipe.hear(Began(step="network"))
    pipe.hear(Failed(message="no"))


@pytest.mark.parametrize(
    ("error", "words", "reason"),
    [
        (ConfigError("the thing is wrong", reason="Wrong"), "the thing is wrong", "Wrong"),
        (OSError(errno.EADDRINUSE, "x"), "port 6443 is in use", "PortInUse"),
        (OSError(errno.ENOSPC, "x"), "no space left for /home", "DiskFull"),
        (OSError(errno.EROFS, "x", "/home/y"), "/home/y is on a disk that cannot", "ReadOnly"),
        (PermissionError(errno.EACCES, "no", "/home/y"), "/home/y may not be used", "Forbidden"),
        (CommandFailed("nft", "ended with exit code 1"), "the log is /home/process.log", ""),
        (ZeroDivisionError("x"), "a mistake in virtctl itself", "Bug"),
        (ExceptionGroup("x", [ConfigError("inner")]), "inner", "InvalidConfiguration"),
    ],
)
def test_what_went_wrong_is_one_sentence(error: Exception, words: str, reason: str) -> None:
    told = failures.told(error, HOME, 6443)
    assert words in told.message
    assert told.reason == reason
    assert "\n" not in told.message


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LogFile]:
    with LogFile(tmp_path / "log", takes_output=False, most_bytes=20) as log:
        yield log


def test_a_log_is_cut_in_pieces_of_which_few_are_kept(log: LogFile, tmp_path: Path) -> None:
    for number in range(9):
        log.write(f"this is line {number}\n")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["log", "log.1", "log.2", "log.3"]
    assert (tmp_path / "log").read_text() == "this is line 8\n"
    assert (tmp_path / "log.3").read_text() == "this is line 5\n"


def test_a_log_goes_on_where_it_was(log: LogFile, tmp_path: Path) -> None:
    log.write("one\n")
    with LogFile(tmp_path / "log", takes_output=False) as again:
        again.write("two\n")
    assert (tmp_path / "log").read_text() == "one\ntwo\n"
