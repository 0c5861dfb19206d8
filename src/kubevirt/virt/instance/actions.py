"""What virt-controller can do for an instance. `life.py` says which."""

import msgspec


class CreatePod(msgspec.Struct, frozen=True):
    """The launcher's. Asked for again until it is seen: hold back while a creation is expected."""


class DeletePod(msgspec.Struct, frozen=True):
    name: str
    uid: str
    """A precondition: a pod of that name may be another by now."""


class SetGate(msgspec.Struct, frozen=True):
    """Of the pod's readiness: whether its guest is unpaused."""

    name: str
    uid: str
    is_open: bool

    @property
    def reason(self) -> str:
        return "NotPaused" if self.is_open else "Paused"


Action = CreatePod | DeletePod | SetGate
