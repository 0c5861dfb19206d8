"""How the endpoint finds containers: the node's pods implement it."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from kubevirt.api.core.pod import Pod
from kubevirt.embedded.runtime.attempt import Attempt


class Located(msgspec.Struct, frozen=True, kw_only=True):
    pod: Pod
    """With the status that was decided last."""
    attempts: Sequence[Attempt] = ()
    """Of the container that was asked for, the first one first; empty if it was never started."""


class Finder(Protocol):
    def find(self, namespace: str, pod: str, container: str, uid: str = "") -> Located | None:
        """None if this node has no such pod. Without `uid` it is the pod that has the name now."""
        ...

    def pods(self) -> Sequence[Pod]:
        """All of this node."""
        ...
