"""The folders of a launcher's pod, as the kubelet names them on the node.

What is in them is the launcher's, so all ways into them follow no link.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kubevirt.base.files import Root
from kubevirt.virt.pod import folders as names

EMPTY_DIRS: Final = "volumes/kubernetes.io~empty-dir"


@dataclass(frozen=True, slots=True)
class PodFolders:
    public: Root
    """What virt-handler leaves for the launcher: network cards, its own socket."""
    sockets: Root
    """The launcher's command socket."""
    private: Root
    """The guest's sockets."""
    container_disks: Root
    """Where images are shown to the launcher, if helpers hold them."""


@contextmanager
def opened(kubelet: Path, pod: str) -> Iterator[PodFolders]:
    """Raises FileNotFoundError where the pod has none, or none any more."""
    with ExitStack() as stack:
        with Root.open(kubelet) as root, root.root(f"pods/{pod}/{EMPTY_DIRS}") as volumes:
            public, sockets, private, disks = (
                stack.enter_context(volumes.root(name))
                for name in (names.PUBLIC, names.SOCKETS, names.PRIVATE, names.CONTAINER_DISKS)
            )
        yield PodFolders(public, sockets, private, disks)
