"""What is written for cloud-init: data of one's own, or a few lines made from flags."""

import base64
import binascii
from dataclasses import dataclass
from typing import Any, Final

from kubevirt.base.errors import UserError
from kubevirt.cli import manifests
from kubevirt.cli.creating.draft import Draft, Json

DISK: Final = "cloudinitdisk"
HEADER: Final = "#cloud-config"
SOURCES: Final = {"nocloud": "cloudInitNoCloud", "configdrive": "cloudInitConfigDrive"}
NONE: Final = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudInit:
    source: str = "nocloud"
    is_wanted: bool = False
    """There shall be a disk even if nothing is written on it."""
    user: str = ""
    password: str = ""
    ssh_keys: tuple[str, ...] = ()
    agent_manages_ssh: bool = False
    user_data: str = ""
    """In base64, as given."""
    network_data: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.user_data or self.network_data or _settings(self))


def add(draft: Draft, wish: CloudInit) -> None:
    source = wish.source.lower()
    if source == NONE:
        return
    if source not in SOURCES:
        raise UserError(
            f"--cloud-init: there is no kind {wish.source!r}; there are {', '.join((*SOURCES, NONE))}",
            reason="Usage",
        )
    if wish.is_empty and not wish.is_wanted:
        return
    draft.add("cloud-init", DISK, {SOURCES[source]: _data(wish)})


def _data(wish: CloudInit) -> Json:
    data: Json = {}
    if wish.user_data:
        data["userDataBase64"] = _encoded("cloud-init-user-data", wish.user_data)
    else:
        data["userData"] = _written(_settings(wish))
    if wish.network_data:
        data["networkDataBase64"] = _encoded("cloud-init-network-data", wish.network_data)
    return data


def _settings(wish: CloudInit) -> Json:
    found: Json = {}
    if wish.user:
        found["user"] = wish.user
    if wish.password:
        found |= {"password": wish.password, "chpasswd": {"expire": False}}
    if wish.ssh_keys:
        found["ssh_authorized_keys"] = list(wish.ssh_keys)
    if wish.agent_manages_ssh:
        # SELinux keeps an agent from the homes of users unless it is told not to.
        found["runcmd"] = [["setsebool", "-P", "virt_qemu_ga_manage_ssh", "on"]]
    return found


def _written(settings: dict[str, Any]) -> str:
    lines = [manifests.as_text({key: value}, "yaml") for key, value in settings.items()]
    return "\n".join([HEADER, *lines])


def _encoded(flag: str, text: str) -> str:
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error:
        raise UserError(
            f"--{flag}: this is not base64; use: base64 -w0 FILE", reason="Usage"
        ) from None
    return text
