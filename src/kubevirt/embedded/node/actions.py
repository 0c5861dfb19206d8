"""What a node can do for a pod. `life.py` says which; `pods.py` does it."""

from datetime import datetime

import msgspec


class PrepareVolumes(msgspec.Struct, frozen=True):
    pass


class SetUpNetwork(msgspec.Struct, frozen=True):
    pass


class GetImage(msgspec.Struct, frozen=True):
    container: str
    number: int
    """The try that it is for."""


class Start(msgspec.Struct, frozen=True):
    container: str
    number: int


class RunPostStart(msgspec.Struct, frozen=True):
    container: str
    number: int


class BeginToStop(msgspec.Struct, frozen=True):
    """Nothing is done to the container yet: the moment is noted, and an event says why."""

    container: str
    number: int
    why: str


class RunPreStop(msgspec.Struct, frozen=True):
    container: str
    number: int
    limit_s: float


class Terminate(msgspec.Struct, frozen=True):
    """SIGTERM."""

    container: str
    number: int


class Kill(msgspec.Struct, frozen=True):
    """SIGKILL."""

    container: str
    number: int


class TearDown(msgspec.Struct, frozen=True):
    """Of what surrounded the containers: network, mounts, control groups. Logs stay."""


class Delete(msgspec.Struct, frozen=True):
    """Of the object, with no grace: the pod has ended."""


class Wait(msgspec.Struct, frozen=True):
    """Nothing to do before then, if nothing else happens."""

    until: datetime


Action = (
    PrepareVolumes
    | SetUpNetwork
    | GetImage
    | Start
    | RunPostStart
    | BeginToStop
    | RunPreStop
    | Terminate
    | Kill
    | TearDown
    | Delete
)
Step = Action | Wait
