"""What volumes hold, against what they may: those of emptyDir on the disk that have a limit.

One program looks at all of them at once; without such a volume nothing is looked at.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.api.core.pod import Pod
from kubevirt.base.commands import run
from kubevirt.base.quantity import Quantity
from kubevirt.embedded.node.volumes import empty_dir, folders
from kubevirt.embedded.objects.pods import spec_of

_AT_ONCE: Final = 200
_TIMEOUT_S: Final = 60.0


class Limited(msgspec.Struct, frozen=True, kw_only=True):
    """A volume that may not hold more than so many bytes."""

    uid: str
    volume: str
    folder: Path
    most_bytes: int
    shown: str
    """The limit as the pod says it."""

    @property
    def message(self) -> str:
        """A kubelet's words, with its space at the end."""
        return f'Usage of EmptyDir volume "{self.volume}" exceeds the limit "{self.shown}". '


def limited(pod: Pod, pod_folder: Path) -> Iterator[Limited]:
    for volume in spec_of(pod).volumes:
        wanted, place = volume.empty_dir, folders.of(volume)
        if wanted is None or place is None or empty_dir.is_in_memory(wanted):
            continue
        if most := empty_dir.limit_bytes(wanted):
            yield Limited(
                uid=pod.metadata.uid,
                volume=volume.name,
                folder=pod_folder / place,
                most_bytes=most,
                shown=str(Quantity.from_json(wanted.size_limit or 0)),
            )


def overfull(volumes: Sequence[Limited], used: Mapping[str, int]) -> Iterator[Limited]:
    return (each for each in volumes if used.get(str(each.folder), 0) > each.most_bytes)


async def measured(volumes: Sequence[Limited]) -> dict[str, int]:
    """Bytes on the disk by folder. What cannot be looked at, because it is going away, is left out."""
    found: dict[str, int] = {}
    for start in range(0, len(volumes), _AT_ONCE):
        some = [each.folder for each in volumes[start : start + _AT_ONCE]]
        done = await run(
            *("nice", "du", "--summarize", "--one-file-system", "--block-size=1", "--null", "--"),
            *some,
            timeout_s=_TIMEOUT_S,
            check=False,
        )
        found |= read(done.stdout)
    return found


def read(answer: bytes) -> dict[str, int]:
    lines = (each.partition(b"\t") for each in answer.split(b"\0") if each)
    return {path.decode(errors="replace"): int(size) for size, _, path in lines if size.isdigit()}
