"""What apt answers to questions about packages, kept for as long as its world stays the same.

apt reads all of Debian's index for each question: seconds of a processor to learn that nothing has changed. What it knows
comes from a few files; an answer is kept under their state and the question.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from guestimage import cache, settings, tools

KNOWLEDGE = (
    Path("/etc/apt"),
    Path("/var/lib/apt/lists"),
    Path("/var/lib/dpkg/status"),
    Path("/var/lib/dpkg/arch"),
)
_KEPT = 32
"""Answers: a build has seven questions, and worlds change."""


def ask(*words: str) -> str:
    answers = settings.from_environment(os.environ).cache / "apt"
    kept = answers / cache.key_of([*words, *_state()])
    try:
        return kept.read_text(encoding="utf-8")
    except FileNotFoundError:
        said = tools.run(*words).decode()
    answers.mkdir(parents=True, exist_ok=True)
    draft = answers / f".{kept.name}.{os.getpid()}"
    draft.write_text(said, encoding="utf-8")
    draft.rename(kept)
    _forget(answers)
    return said


def _forget(answers: Path) -> None:
    """The oldest, also while others do the same."""
    found = sorted(answers.iterdir(), key=_written_ns, reverse=True)
    for path in found[_KEPT:]:
        path.unlink(missing_ok=True)


def _written_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _state() -> Iterator[str]:
    for place in KNOWLEDGE:
        for path in (place, *sorted(place.rglob("*"))):
            try:
                found = path.stat()
            except FileNotFoundError:
                continue
            yield f"{path} {found.st_size} {found.st_mtime_ns}"
