"""Folders of the launcher itself. virt-handler finds them on the node by these names."""

from typing import Final

from msgspec.structs import replace

from kubevirt.virt.pod.launch import Launch
from kubevirt.virt.pod.storage import Storage, folder

PRIVATE: Final = "private"
PUBLIC: Final = "public"
SOCKETS: Final = "sockets"
LIBVIRT: Final = "libvirt-runtime"
EPHEMERAL: Final = "ephemeral-disks"
CONTAINER_DISKS: Final = "container-disks"
PROGRAMS: Final = "virt-bin-share-dir"
"""Where the helper of container disks is put for images that have nothing in them but a disk."""
HUGE_PAGES: Final = "hugepages"

OURS: Final = frozenset(
    {PRIVATE, PUBLIC, SOCKETS, LIBVIRT, EPHEMERAL, CONTAINER_DISKS, PROGRAMS, HUGE_PAGES}
)
"""Names that no volume of an instance may have."""

LIBVIRT_HOME: Final = "/var/run/libvirt"
HUGE_PAGE_FOLDER: Final = "/dev/hugepages"


def folders(launch: Launch) -> Storage:
    layout = launch.layout
    has_huge_pages = launch.domain.memory is not None and launch.domain.memory.hugepages is not None
    return Storage.together(
        (
            folder(PRIVATE, layout.private),
            folder(PUBLIC, layout.share),
            folder(SOCKETS, f"{layout.share}/sockets"),
            folder(LIBVIRT, LIBVIRT_HOME),
            folder(EPHEMERAL, layout.ephemeral),
            _container_disks(launch),
            *((folder(HUGE_PAGES, HUGE_PAGE_FOLDER, "HugePages"),) if has_huge_pages else ()),
        )
    )


def _container_disks(launch: Launch) -> Storage:
    """virt-handler mounts images below it while the launcher runs, who is to see them."""
    made = folder(CONTAINER_DISKS, launch.layout.container_disks)
    if launch.config.image_volumes:
        return made
    (mount,) = made.mounts
    return replace(made, mounts=(replace(mount, mount_propagation="HostToContainer"),))
