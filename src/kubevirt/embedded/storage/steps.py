"""What can be done for a claim or a volume. `decide.py` says which; `carrying.py` does it."""

import msgspec

from kubevirt.api.core.storage import PersistentVolume, PersistentVolumeClaim


class Tell(msgspec.Struct, frozen=True):
    """An event, once for as long as it is so."""

    reason: str
    message: str
    is_warning: bool = False


class Bind(msgspec.Struct, frozen=True):
    """The claim and this volume belong together from now on; whatever is missing for that is written."""

    volume: PersistentVolume


class Provision(msgspec.Struct, frozen=True):
    """A new volume for the claim, then `Bind`."""

    node: str
    """Where it is wanted; empty for anywhere."""


class Copy(msgspec.Struct, frozen=True):
    """The data of the new volume, as a copy of another's, before there is a volume."""

    source: PersistentVolumeClaim


class Classify(msgspec.Struct, frozen=True):
    """The claim said nothing of a class, and came before there was a default one."""

    name: str


class Grow(msgspec.Struct, frozen=True):
    """The claim asks for more than its volume has."""

    volume: PersistentVolume
    to: str


class Lose(msgspec.Struct, frozen=True):
    """The volume of a bound claim is not to be found, or is another's."""

    reason: str
    message: str


class Wait(msgspec.Struct, frozen=True):
    """The claim has no volume yet."""


class Unprotect(msgspec.Struct, frozen=True):
    """Nobody uses it any more, so it may go."""


class Release(msgspec.Struct, frozen=True):
    """Nobody copies it any more."""


ClaimStep = Tell | Bind | Provision | Copy | Classify | Grow | Lose | Wait | Unprotect | Release


class Show(msgspec.Struct, frozen=True):
    """The phase of a volume."""

    phase: str
    message: str = ""


class Free(msgspec.Struct, frozen=True):
    """The volume is nobody's again; it never was."""


class Reclaim(msgspec.Struct, frozen=True):
    """Its claim is gone for good: the data goes, then the volume."""


VolumeStep = Tell | Show | Free | Reclaim | Unprotect
