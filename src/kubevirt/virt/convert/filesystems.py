"""Shared folders by virtiofs."""

from typing import Final

from kubevirt.virt.convert.guest import Guest, alias
from kubevirt.virt.domain.filesystem import (
    Filesystem,
    FilesystemDriver,
    FilesystemSource,
    FilesystemTarget,
)

QUEUE: Final = 1024


def filesystems(guest: Guest) -> tuple[Filesystem, ...]:
    return tuple(
        Filesystem(
            type="mount",
            accessmode="passthrough",
            driver=FilesystemDriver(type="virtiofs", queue=QUEUE),
            source=FilesystemSource(socket=guest.facts.layout.virtiofs_socket(spec.name)),
            target=FilesystemTarget(tag=spec.name),
            alias=alias("filesystem", spec.name),
        )
        for spec in guest.devices.filesystems
    )
