"""What a plugin says of a container's devices, as its sandbox needs it.

A path that components share is below the node's own root, as everywhere. Which of reading and writing a
plugin allows of a device is not enforced beyond the mode of the device file: sandboxes here have no device
control group.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kubevirt.base.errors import UserError
from kubevirt.embedded.node.neighbours import Allocated
from kubevirt.embedded.node.volumes import places
from kubevirt.embedded.runtime.container import Mount
from kubevirt.rpc.devices import Answer

MOST_PATHS: Final = 1000


class BadAnswer(UserError):  # noqa: N818  # it is what the answer is
    """What is wrong with it."""


def fitted(answers: Iterable[Answer], root: Path) -> Allocated:
    """`root` is the node's. Whoever comes later cannot change what one before has said, as in a kubelet."""
    mounts: dict[str, Mount] = {}
    environment: dict[str, str] = {}
    annotations: dict[str, str] = {}
    for answer in answers:
        environment = {**answer.environment, **environment}
        annotations = {**answer.annotations, **annotations}
        for each in _mounts(answer, root):
            mounts.setdefault(each.target, each)
    if len(mounts) > MOST_PATHS:
        raise BadAnswer(
            f"{len(mounts)} paths are more than the {MOST_PATHS} that a container may have"
        )
    ordered = [mounts[target] for target in sorted(mounts)]  # outer ones first
    return Allocated(mounts=ordered, environment=environment, annotations=annotations)


def _mounts(answer: Answer, root: Path) -> Iterable[Mount]:
    for folder in answer.folders:
        _check(folder.source, folder.target)
        yield Mount(
            source=str(places.host(root, folder.source)),
            target=folder.target,
            is_read_only=folder.is_read_only,
        )
    for node in answer.nodes:
        _check(node.source, node.target)
        yield Mount(source=str(places.host(root, node.source)), target=node.target, is_device=True)


def _check(*paths: str) -> None:
    for path in paths:
        if not path.startswith("/") or ".." in path.split("/") or "\0" in path:
            raise BadAnswer(f"{path!r} is no absolute path")
