"""Running the programs of the build: one environment, so that the same inputs give the same bytes."""

import os
import re
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from guestimage import errors

EPOCH = 1735689600
"""The one moment of everything in the image: 2025-01-01T00:00:00Z."""

_LAST_WORDS = 12
"""Lines of output that an error shows: enough for a cause, short of a flood."""

_FIXED = {
    "LC_ALL": "C",
    "TZ": "UTC",
    "SOURCE_DATE_EPOCH": str(EPOCH),
    "E2FSPROGS_FAKE_TIME": str(EPOCH),
    "MTOOLS_SKIP_CHECK": "1",
    "MTOOLSRC": os.devnull,
}
_CAUSE = re.compile(r"\berror:|\*\*\* ")
"""How gcc and make begin a line that says why they failed."""
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Nothing of the caller's shell but proxies and the home of apt's settings."""
    kept = {
        name: os.environ[name]
        for name in ("HOME", "http_proxy", "https_proxy")
        if name in os.environ
    }
    return {**kept, "PATH": _PATH, **_FIXED, **(more or {})}


def run(
    *argv: str | Path,
    folder: Path | None = None,
    stdin: bytes = b"",
    more: Mapping[str, str] | None = None,
) -> bytes:
    """Run a program to its end and return what it printed."""
    words = _words(argv)
    done = subprocess.run(  # noqa: S603  # to run the tools of a build is what this is for
        words, cwd=folder, input=stdin, capture_output=True, env=environment(more), check=False
    )
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace").splitlines()
        raise errors.ToolFailed(words, done.returncode, said[-_LAST_WORDS:])
    return done.stdout


def follow(
    *argv: str | Path,
    folder: Path,
    each_line: Callable[[str], None],
    log: Path,
    more: Mapping[str, str] | None = None,
) -> None:
    """Run a long program, hand over each line it prints, and keep them all in a log."""
    words = _words(argv)
    tail: deque[str] = deque(maxlen=_LAST_WORDS)
    # Compilers that run side by side go on talking after one of them has failed.
    causes: list[str] = []
    with (
        log.open("a") as kept,
        subprocess.Popen(  # noqa: S603
            words,
            cwd=folder,
            env=environment(more),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process,
    ):
        try:
            for line in process.stdout or ():
                kept.write(line)
                tail.append(line.rstrip())
                if _CAUSE.search(line) and len(causes) < _LAST_WORDS:
                    causes.append(line.rstrip())
                each_line(line)
        except BaseException:
            # Also when interrupted: a compiler nobody waits for must not stay behind.
            process.terminate()
            raise
    if process.returncode:
        raise errors.ToolFailed(words, process.returncode, tuple(causes or tail), str(log))


def _words(argv: Sequence[str | Path]) -> list[str]:
    words = [str(word) for word in argv]
    if shutil.which(words[0], path=_PATH) is None:
        raise errors.ToolMissing(words[0])
    return words
