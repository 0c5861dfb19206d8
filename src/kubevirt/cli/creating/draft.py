"""A machine while it is being put together."""

from typing import Any

from kubevirt.base.errors import UserError

Json = dict[str, Any]


class Draft:
    """Volumes and disks in the order in which they come; names and boot orders are there once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.volumes: list[Json] = []
        self.disks: list[Json] = []
        self.templates: list[Json] = []
        """Of data volumes."""
        self.credentials: list[Json] = []

    def add(self, flag: str, name: str, source: Json, boot_order: int | None = None) -> None:
        if self.volume(name) is not None:
            raise UserError(
                f"--{flag}: there is already a volume with name {name!r}", reason="Usage"
            )
        self.volumes.append({"name": name, **source})
        if boot_order is None:
            return
        if any(each["bootOrder"] == boot_order for each in self.disks):
            raise UserError(f"--{flag}: bootorder {boot_order} is there twice", reason="Usage")
        self.disks.append({"name": name, "bootOrder": boot_order})

    def volume(self, name: str) -> Json | None:
        return next((each for each in self.volumes if each["name"] == name), None)

    @property
    def first(self) -> str:
        """The volume that the guest boots from; nothing if there is none."""
        if self.disks:
            return str(min(self.disks, key=lambda each: int(each["bootOrder"]))["name"])
        return str(self.volumes[0]["name"]) if self.volumes else ""
