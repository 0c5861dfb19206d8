"""Records: what a virt-handler must still know of a launcher when it comes back.

A pod's network cannot be read any more once a guest was put into it, so what it was stands here before it is
touched. How a guest ended stands here before the launcher, which then goes, hears that it was heard. And a
launcher whose instance is gone is found by its record.
"""

from pathlib import Path
from typing import Final

import msgspec

from kubevirt.base.files import Root
from kubevirt.base.log import get_logger
from kubevirt.components.handler.launchers.identity import Identity, is_uid
from kubevirt.rpc import reports
from kubevirt.virt.network.facts import PodFacts
from kubevirt.virt.network.plan import InterfacePlan

log = get_logger(__name__)

_SUFFIX: Final = ".json"


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    whose: Identity
    pod: PodFacts | None = None
    """The pod's network before a guest was put into it."""
    plans: tuple[InterfacePlan, ...] = ()
    ending: reports.Domain | None = None
    """The last report, if the guest is over."""


class Records:
    """Files in a folder of our own, by the UID of the pod."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def all(self) -> list[Record]:
        names = [each.stem for each in self._folder.glob(f"*{_SUFFIX}") if is_uid(each.stem)]
        return [found for name in sorted(names) if (found := self.get(name)) is not None]

    def get(self, pod: str) -> Record | None:
        """None if there is none that can be read: one of a version that wrote other things."""
        try:
            return msgspec.json.decode(self._path(pod).read_bytes(), type=Record)
        except FileNotFoundError:
            return None
        except msgspec.DecodeError as error:
            log.warning("a record of a launcher cannot be read", pod=pod, reason=str(error))
            return None

    def put(self, record: Record) -> None:
        """It outlives us, but not the machine, and neither does the launcher."""
        with Root.open(self._folder) as root:
            name = f"{record.whose.pod}{_SUFFIX}"
            root.write(name, msgspec.json.encode(record), durable=False)

    def forget(self, pod: str) -> None:
        self._path(pod).unlink(missing_ok=True)

    def _path(self, pod: str) -> Path:
        return self._folder / f"{pod}{_SUFFIX}"
