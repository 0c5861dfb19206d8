"""Where things are on this node: paths that components share are below the node's own root.

A machine may carry several nodes, and their kubelet folders must not meet. So a hostPath into one of the
folders below means the one of the node that the pod runs on; any other is the machine's.
"""

from pathlib import Path
from typing import Final

_OF_THE_NODE: Final = ("/var/lib/kubelet", "/var/run/kubevirt")
_OTHER_NAMES: Final = {"/run/kubevirt": "/var/run/kubevirt"}


def host(root: Path, path: str) -> Path:
    """What a path of the machine means to a pod of the node with this root."""
    asked = Path("/" + path.lstrip("/"))  # two slashes in front would be a root of their own
    for name, own in _OTHER_NAMES.items():
        if asked.is_relative_to(name):
            asked = Path(own) / asked.relative_to(name)
    if any(asked.is_relative_to(folder) for folder in _OF_THE_NODE):
        return root / asked.relative_to("/")
    return asked
