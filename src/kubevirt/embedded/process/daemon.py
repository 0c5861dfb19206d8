"""Starts the process of a home apart from any terminal, and waits until it is ready.

It becomes the leader of a session of its own, with a small environment and its log for output: closing the
terminal, or ending whoever started it, does not end it. `base.commands` is not for this: it ends what it starts.
"""

import os
import select
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final

from kubevirt.base.commands import ENVIRONMENT
from kubevirt.embedded.process.progress import Event, Failed, Listener, Ready, event
from kubevirt.embedded.process.settings import Wishes

READY_S: Final = 120.0
"""The usual time is one second, for a new home three; a machine that was just started may be busy."""
END_S: Final = 60.0
"""For one that is ended; its pods and programs are given some of it."""
_REPORT: Final = 3
_PASSED_ON: Final = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""How images are reached."""


def start(wishes: Wishes, listener: Listener, env: Mapping[str, str]) -> Ready | Failed:
    """Returns when it is ready, or has failed and is gone."""
    reading, writing = os.pipe2(os.O_CLOEXEC)
    try:
        pid = _spawn(wishes, writing, env)
    finally:
        os.close(writing)
    try:
        for each in _events(reading, pid):
            if isinstance(each, Ready | Failed):
                return each
            listener.hear(each)
    except KeyboardInterrupt:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
        return Failed(
            message="interrupted; what was started has been ended again", reason="Interrupted"
        )
    finally:
        os.close(reading)
    return _died(pid, wishes.home)


def _spawn(wishes: Wishes, report: int, env: Mapping[str, str]) -> int:
    words = [sys.executable, "-m", "kubevirt.embedded", "--home", str(wishes.home.absolute())]
    words += [] if wishes.port is None else ["--port", str(wishes.port)]
    words += [] if wishes.nodes is None else ["--nodes", str(wishes.nodes)]
    words += [] if wishes.has_kubevirt else ["--without-kubevirt"]
    if wishes.is_separate is not None:
        words.append("--separate" if wishes.is_separate else "--no-separate")
    words += [word for each in wishes.archives for word in ("--archives", str(each))]
    words += ["--report", str(_REPORT)]
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        return os.posix_spawn(
            sys.executable,
            words,
            _environment(env),
            file_actions=[
                *((os.POSIX_SPAWN_DUP2, null, number) for number in (0, 1, 2)),
                (os.POSIX_SPAWN_DUP2, report, _REPORT),
            ],
            setsid=True,
        )
    finally:
        os.close(null)


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    """One arena for memory that is asked for by threads: more of them would only hold on to it."""
    passed = {name: value for name, value in env.items() if name.upper() in _PASSED_ON}
    return {**ENVIRONMENT, **passed, "MALLOC_ARENA_MAX": "2"}


def _events(fd: int, pid: int) -> Iterator[Event]:
    """Until the other side has said its last word, or is gone, or takes too long."""
    until, rest = monotonic() + READY_S, b""
    while left := max(until - monotonic(), 0.0):
        readable, _, _ = select.select([fd], [], [], left)
        if not readable:
            break
        data = os.read(fd, 65536)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield event(line)
    _end(pid)
    yield Failed(message=f"it was not ready within {READY_S:.0f} s and was ended", reason="Timeout")


def _end(pid: int) -> None:
    """And waits for it: whoever tries again right away is not to find it on its way out."""
    pidfd = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(pidfd, signal.SIGTERM)
        if select.select([pidfd], [], [], END_S)[0]:
            os.waitpid(pid, 0)
    finally:
        os.close(pidfd)


def _died(pid: int, home: Path) -> Failed:
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)
    return Failed(
        message=f"the process ended before it was ready; its last words are in {home}/process.log"
    )
