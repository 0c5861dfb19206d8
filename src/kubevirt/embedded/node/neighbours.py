"""Who the node needs to make a pod run, as it knows them.

Each is a small protocol: `pods.py` is written against these, and tests of it may bring their own. Whatever
cannot be done now is a `Setback`, with the reason that Kubernetes has for it, and is tried again.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from kubevirt.api.core.container import Container, ResourceRequirements, SeccompProfile
from kubevirt.api.core.pod import Pod
from kubevirt.base.errors import Retry
from kubevirt.embedded.runtime.container import Mount


class NotNow(Retry):
    """What a pod needs cannot be had, and why: `reason` is the one of the event or of the waiting state."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class NoImageForVolume(NotNow):
    """A volume is an image that cannot be had. The containers that mount it wait for it as for their own."""

    def __init__(self, reason: str, message: str, *, volume: str, image: str) -> None:
        named = message if image in message else f"image {image}: {message}"
        super().__init__(reason, named)
        self.volume = volume
        self.image = image


class ImageConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What an image says about how it is run."""

    entrypoint: Sequence[str] = ()
    command: Sequence[str] = ()
    environment: Sequence[str] = ()
    """NAME=value."""
    user: str = ""
    """uid, uid:gid, or names that are looked up in the image's own passwd and group."""
    folder: str = "/"
    stop_signal: str = ""


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """An image that is here."""

    id: str
    """For the status of a container: name@digest, or a digest."""
    root: Path | None = None
    """Its files, unpacked, never written to; None for the built-in image, which is this machine's /usr."""
    mounts: Sequence[Mount] = ()
    """What the built-in image lacks, and this one has."""
    config: ImageConfig = ImageConfig()
    is_pulled: bool = False
    """A registry was asked for it just now."""


class Images(Protocol):
    async def get(self, name: str, policy: str, credentials: Sequence[bytes] = ()) -> Image:
        """By Kubernetes' pull policies. `credentials` are the contents of pull secrets
        (.dockerconfigjson). NotNow with ErrImagePull, ErrImageNeverPull or InvalidImageName.
        """
        ...


class Volumes(Protocol):
    async def prepare(self, pod: Pod) -> None:
        """All of them, and keeps those fresh that change. Any number of times, also for a pod that was
        prepared by a process before us, and once more when labels or annotations of the pod change,
        which may stand in files. NotNow with FailedMount.
        """
        ...

    def mounts(
        self, pod: Pod, container: Container, environment: Mapping[str, str] = {}
    ) -> Sequence[Mount]:
        """Of a pod that is prepared: volumeMounts and volumeDevices, outer ones first, subPath
        resolved, in which the variables of the container may stand. NotNow with
        CreateContainerConfigError.
        """
        ...

    def overfull(self, uid: str) -> str:
        """Why the pod must be evicted: a volume of it holds more than it may. Empty if none does."""
        ...

    async def tear_down(self, uid: str) -> None:
        """Of all that is left of a pod's volumes here; what is not the pod's own stays. NotNow with
        FailedUnMount.
        """
        ...


class PodNetwork(msgspec.Struct, frozen=True, kw_only=True):
    namespace: str
    """A file that stands for the network namespace; empty for the machine's own."""
    addresses: tuple[str, ...]
    """The first one is the pod's."""
    resolver: str
    """For /etc/resolv.conf of its containers."""


class Network(Protocol):
    @property
    def namespace(self) -> str:
        """A file that stands for the network namespace of the node itself; empty for the machine's own."""
        ...

    @property
    def trouble(self) -> str:
        """What of it does not work now, and why; empty if all does."""
        ...

    async def set_up(self, pod: Pod) -> PodNetwork:
        """Any number of times: what is there is found again, with the same addresses, also after the end
        of the process that made it. A pod of the host's network gets the node's. NotNow with
        FailedCreatePodSandBox.
        """
        ...

    async def tear_down(self, uid: str) -> None: ...


class Allocated(msgspec.Struct, frozen=True, kw_only=True):
    """What device plugins say that a container needs for the devices it was given."""

    mounts: Sequence[Mount] = ()
    environment: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}


class Devices(Protocol):
    @property
    def capacity(self) -> Mapping[str, tuple[int, int]]:
        """By resource: how many there are, and how many of them are healthy."""
        ...

    async def allocate(self, pod: Pod, container: Container) -> Allocated:
        """The same devices for as long as the pod lives, also after a restart of ours. NotNow with
        UnexpectedAdmissionError.
        """
        ...

    def free(self, uid: str) -> None: ...


class Groups(Protocol):
    """Control groups: what containers may use, counted and limited."""

    def for_container(
        self, uid: str, name: str, resources: ResourceRequirements | None
    ) -> Sequence[str]:
        """The folders of the groups that one more try of a container begins in, made anew."""
        ...

    def is_out_of_memory(self, uid: str, name: str) -> bool:
        """Whether the last try of a container was ended for want of memory."""
        ...

    def remove(self, uid: str) -> None:
        """All groups of a pod in which nothing runs any more."""
        ...


class Filters(Protocol):
    def get(self, profile: SeccompProfile | None, capabilities: Collection[str]) -> int | None:
        """An open file with the system calls that a container of these capabilities may make, None for
        all of them. It stays open. NotNow with CreateContainerError.
        """
        ...
