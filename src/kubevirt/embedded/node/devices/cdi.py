"""Devices that are described by files of the machine (Container Device Interface): a plugin names them, and
the file says what a container needs to use them.

    vendor.example/class=name

Files are JSON or YAML. What they can ask for beyond variables, device files and mounts (hooks, for one) is a
program to be run as root, or more; this node does none of it and says so.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from kubevirt.base.errors import UserError
from kubevirt.base.files import Root
from kubevirt.rpc.devices import Answer, Folder, Node

FOLDERS: Final = (Path("/etc/cdi"), Path("/var/run/cdi"))
"""Of the machine; what is in a later one goes before."""
_ENDINGS: Final = (".json", ".yaml", ".yml")
_LIMIT: Final = 1 << 20


class NotDescribed(UserError):  # noqa: N818  # it is what the device is
    pass


class _DeviceNode(msgspec.Struct, frozen=True, rename="camel"):
    path: str
    host_path: str = ""
    permissions: str = ""


class _Mount(msgspec.Struct, frozen=True, rename="camel"):
    host_path: str
    container_path: str
    options: Sequence[str] = ()


class _Edits(msgspec.Struct, frozen=True, rename="camel"):
    env: Sequence[str] = ()
    device_nodes: Sequence[_DeviceNode] = ()
    mounts: Sequence[_Mount] = ()
    hooks: Sequence[Any] = ()
    additional_gids: Sequence[int] = ()
    intel_rdt: Any = None

    @property
    def beyond_us(self) -> Iterable[str]:
        if self.hooks:
            yield "hooks"
        if self.additional_gids:
            yield "additionalGids"
        if self.intel_rdt is not None:
            yield "intelRdt"


class _Device(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    container_edits: _Edits = _Edits()


class Description(msgspec.Struct, frozen=True, rename="camel"):
    """One file."""

    kind: str
    devices: Sequence[_Device] = ()
    container_edits: _Edits = _Edits()


def described(names: Sequence[str], folders: Sequence[Path] = FOLDERS) -> Answer:
    """What a container needs for all of them."""
    return answer(names, read(folders)) if names else Answer()


def answer(names: Sequence[str], descriptions: Sequence[Description]) -> Answer:
    edits: list[_Edits] = []
    for name in names:
        kind, _, device = name.partition("=")
        for each in reversed(descriptions):
            found = next((one for one in each.devices if one.name == device), None)
            if each.kind == kind and found:
                edits += [each.container_edits, found.container_edits]
                break
        else:
            raise NotDescribed(f"unresolvable CDI devices {name}; no file in {_shown()} has it")
    for edit in edits:
        for what in edit.beyond_us:
            raise NotDescribed(
                f"CDI devices {', '.join(names)} need {what}, which this node does not do"
            )
    return Answer(
        environment=dict(_pair(each) for edit in edits for each in edit.env),
        folders=[
            Folder(each.container_path, each.host_path, "ro" in each.options)
            for edit in edits
            for each in edit.mounts
        ],
        nodes=[
            Node(each.path, each.host_path or each.path, each.permissions)
            for edit in edits
            for each in edit.device_nodes
        ],
    )


def read(folders: Sequence[Path]) -> list[Description]:
    found: list[Description] = []
    for folder in folders:
        if not folder.is_dir():
            continue
        with Root.open(folder) as root:
            names = [name for name in root.listdir() if name.endswith(_ENDINGS)]
            found += [_parsed(name, root.read(name, limit=_LIMIT)) for name in names]
    return found


def _parsed(name: str, data: bytes) -> Description:
    try:
        if name.endswith(".json"):
            return msgspec.json.decode(data, type=Description)
        return msgspec.yaml.decode(data, type=Description)
    except (msgspec.DecodeError, ValueError) as error:
        raise NotDescribed(f"{name} in {_shown()} describes no CDI devices: {error}") from None


def _pair(variable: str) -> tuple[str, str]:
    name, _, value = variable.partition("=")
    return name, value


def _shown() -> str:
    return " or ".join(map(str, FOLDERS))
