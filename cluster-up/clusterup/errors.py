"""What can go wrong, said once.

ClusterError          one sentence: what, why it matters, the way out; never a stack trace
├── Missing           this machine lacks something
└── Broken            a program of the cluster ended or did not answer in time
"""

from pathlib import Path

_LAST_WORDS = 12
"""Lines of a log that are shown when its program failed: enough for a cause, short of a flood."""


class ClusterError(Exception):
    """Anything a person can act upon; the command line prints it and ends with a code."""


class AlreadyUp(ClusterError):  # noqa: N818  # what is the case, not that it is an error
    """The cluster that was asked for runs already."""


class Missing(ClusterError):  # noqa: N818
    """Something this machine lacks: what, why it matters, the way out."""


class Broken(ClusterError):  # noqa: N818
    """A program of the cluster failed; its last words are part of the message."""

    def __init__(self, what: str, *, log: Path | None = None) -> None:
        super().__init__(what + (_last_words(log) if log else ""))


def _last_words(log: Path) -> str:
    try:
        lines = log.read_text(errors="replace").splitlines()[-_LAST_WORDS:]
    except OSError:
        return f"; it left no log at {log}"
    if not lines:
        return f"; its log {log} is empty"
    return f"; the end of its log {log}:\n  " + "\n  ".join(line[:400] for line in lines)
