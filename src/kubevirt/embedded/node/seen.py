"""What a node sees of a pod: everything that `life.py` decides from, beside the pod itself.

Values only. Who looks is `pods.py`; a process that was just started sees the same as the one before
it, since containers outlive both.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum, auto

import msgspec


class Hook(StrEnum):
    """How far a postStart or preStop hook of one try has come."""

    NOT_RUN = auto()
    RUNNING = auto()
    DONE = auto()
    FAILED = auto()


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """What the probes of one try have found, after their thresholds."""

    has_started: bool = False
    is_ready: bool = False
    unhealthy: str = ""
    """The kind of the probe that gave it up: `liveness` or `startup`."""


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    code: int
    at: datetime | None = None
    """None if nobody saw it."""
    failure: str = ""
    """Why the command could not be started at all."""
    message: str = ""
    """What it left in its termination message."""
    is_out_of_memory: bool = False
    is_interrupted: bool = False
    """It was stopped because the whole home went down, whatever it made of that."""

    @property
    def has_failed(self) -> bool:
        """An end that nobody saw is a failure: nobody can say that the work was done."""
        return self.code != 0 or self.at is None or bool(self.failure) or self.is_interrupted


class Stopping(msgspec.Struct, frozen=True, kw_only=True):
    """How far a try is on its way to its end."""

    since: datetime
    pre_stop: Hook = Hook.NOT_RUN
    asked_at: datetime | None = None
    """When it was sent SIGTERM."""
    is_killed: bool = False
    is_interruption: bool = False
    """It is stopped because the whole home goes down."""


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """One try to run a container."""

    number: int
    id: str = ""
    image_id: str = ""
    started_at: datetime
    ended: Ended | None = None
    post_start: Hook = Hook.DONE
    """Of a container that was found running it is not known; it has most probably run."""
    probed: Probed = Probed()
    stopping: Stopping | None = None
    is_of_before: bool = False
    """Of before the machine, or this home, went down: what was initialised then is no more."""

    @property
    def is_running(self) -> bool:
        return self.ended is None


class Setback(msgspec.Struct, frozen=True, kw_only=True):
    """Why a container could not even be tried."""

    reason: str
    message: str
    at: datetime
    times: int = 1
    """In a row."""
    image: str = ""
    """That could not be had."""


class ContainerSeen(msgspec.Struct, frozen=True, kw_only=True):
    tries: tuple[Tried, ...] = ()
    """The last ones, the newest last. Their numbers go up without a gap."""
    image_at_hand_for: int = -1
    """The try that the image was had for; a policy may want it asked for each one."""
    setback: Setback | None = None

    @property
    def last(self) -> Tried | None:
        return self.tries[-1] if self.tries else None

    @property
    def running(self) -> Tried | None:
        return self.last if self.last and self.last.is_running else None

    @property
    def next_number(self) -> int:
        return self.last.number + 1 if self.last else 0


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Why a pod must end, or must not begin: `Evicted`, `NodeAffinity`, `DeadlineExceeded` …"""

    reason: str
    message: str
    is_refusal: bool = False
    """The pod is not let in at all."""


class PodSeen(msgspec.Struct, frozen=True, kw_only=True):
    containers: Mapping[str, ContainerSeen] = {}
    """By name; a container that was never tried may be missing."""
    has_volumes: bool = False
    addresses: tuple[str, ...] = ()
    """Given once its network is there."""
    host_addresses: tuple[str, ...] = ()
    verdict: Verdict | None = None
    """Of whoever admits and evicts pods here."""
    is_torn_down: bool = False

    def of(self, name: str) -> ContainerSeen:
        return self.containers.get(name, _NEVER_TRIED)

    @property
    def has_network(self) -> bool:
        return bool(self.addresses)


_NEVER_TRIED = ContainerSeen()
