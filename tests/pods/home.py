"""The cluster under test: where it is, and what its pods are made of.

A cluster takes seconds to start, so all workers of a run share one. Whoever needs it first starts it, under
a lock; the process that started the workers stops it when all of them are done (`conftest.py`).
"""

import fcntl
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

EMBEDDED = "embedded"
KUBERNETES = "kubernetes"

SPARE = "pods.test/spare"
"""The taint that keeps pods away from the spare node, unless they tolerate it."""


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """One cluster of two nodes. Tests share it: what they make lies in namespaces of their own."""

    name: str
    folder: str
    """All that it keeps on this machine."""
    kubeconfig: str
    """For an administrator."""
    kubectl: str
    image: str
    """With a shell and busybox: both homes have it, and both know it by this name."""
    disk_image: str
    """With one file, `disk/disk.img`."""
    nodes: Sequence[str]
    """The first one is for everybody, the second one is spare."""
    provisions: bool
    """Whether it makes volumes for claims; if not, they are made by hand."""

    @property
    def node(self) -> str:
        return self.nodes[0]


def shared(folder: Path, start: Callable[[], Home]) -> Home:
    """The home that another worker has started, or else the one that `start` does."""
    record = folder / "home.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not record.exists():
            # Why it could not start is said to everyone, and tried once.
            found: dict[str, Any] = {}
            try:
                found["home"] = msgspec.to_builtins(start())
            except Exception as error:
                found["error"] = str(error)
                raise
            finally:
                record.write_text(json.dumps(found))
    said = json.loads(record.read_text())
    if "home" not in said:
        raise NotStartedError(said.get("error", "it was interrupted"))
    return msgspec.convert(said["home"], Home)


class NotStartedError(Exception):
    """Another worker has tried it, and said why."""
