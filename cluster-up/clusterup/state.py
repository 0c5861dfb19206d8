"""What is known of a cluster between two commands: one JSON file in its folder.

Bringing a cluster down does not depend on it; see `cgroups`.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from clusterup import errors

STARTING = "starting"
UP = "up"


@dataclass(frozen=True, kw_only=True)
class State:
    phase: str
    provider: str
    nodes: list[str]
    network: int
    kubeconfig: str
    server: str
    registry: str
    audit_log: str


def read(home: Path) -> State | None:
    """The state, or nothing where there is no cluster."""
    try:
        return State(**json.loads((home / "state.json").read_text()))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise errors.ClusterError(
            f"{home / 'state.json'} is damaged ({error}), so nothing is known of the cluster; "
            "run `make cluster-down` and start again"
        ) from error


def write(home: Path, state: State) -> None:
    new = home / "state.json.new"
    new.write_text(json.dumps(asdict(state), indent=2) + "\n")
    new.replace(home / "state.json")


@contextlib.contextmanager
def only_one(home: Path) -> Iterator[None]:
    """Let one command at a time change the cluster; a second says so instead of waiting."""
    descriptor = _lock(home)
    try:
        yield
    finally:
        os.close(descriptor)


def _lock(home: Path) -> int:
    while True:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever held it before us may have removed the folder: then ours is another one.
            if home.exists() and home.stat().st_ino == os.fstat(descriptor).st_ino:
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            raise errors.ClusterError(
                f"another cluster-up or cluster-down is at work on {home}; wait for it to end"
            ) from None
        os.close(descriptor)
