"""What a node and a device plugin tell each other, as Python sees it. Nothing here needs gRPC: a node knows
these words long before the first plugin comes.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final, Protocol

import msgspec

VERSION: Final = "v1beta1"
HEALTHY: Final = "Healthy"


class Options(msgspec.Struct, frozen=True, kw_only=True):
    needs_pre_start: bool = False
    """Wants to be told before each start of a container with its devices."""
    has_preferences: bool = False
    """Can be asked which devices go well together."""


class Registered(msgspec.Struct, frozen=True, kw_only=True):
    """What a plugin says when it comes."""

    version: str
    socket: str
    """A name in the folder where the node's own socket is."""
    resource: str
    options: Options = Options()


class Device(msgspec.Struct, frozen=True):
    id: str
    is_healthy: bool = True


class Folder(msgspec.Struct, frozen=True):
    """A file or folder of the machine, as a container sees it."""

    target: str
    source: str
    is_read_only: bool = False


class Node(msgspec.Struct, frozen=True):
    """A device file."""

    target: str
    source: str
    permissions: str = ""


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a container needs to use the devices it was given."""

    environment: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    folders: Sequence[Folder] = ()
    nodes: Sequence[Node] = ()
    names: Sequence[str] = ()
    """Of CDI devices, `vendor/class=name`."""


class Plugin(Protocol):
    """One that was registered. Each call raises `NoAnswer` where there is none."""

    def devices(self) -> AsyncIterator[Sequence[Device]]:
        """All of them, each time one changes; ends with the plugin."""
        ...

    async def allocate(self, ids: Sequence[str]) -> Answer: ...

    async def preferred(
        self, available: Sequence[str], included: Sequence[str], count: int
    ) -> Sequence[str]: ...

    async def pre_start(self, ids: Sequence[str]) -> None: ...

    async def close(self) -> None: ...
