"""What the agent inside a guest tells."""

from typing import Annotated

from kubevirt.api.guest_os import VirtualMachineInstanceGuestOSInfo
from kubevirt.api.meta import ListMeta
from kubevirt.api.struct import ATOMIC, Int32, Struct


class GuestAgentCommandInfo(Struct, frozen=True, kw_only=True):
    """A command of the agent."""

    name: str
    """Name of the command, such as guest-fsfreeze-freeze."""
    enabled: bool | None = None
    """Whether the agent carries it out."""


class VirtualMachineInstanceFileSystemDisk(Struct, frozen=True, kw_only=True):
    """A disk below a file system."""

    bus_type: str
    """Bus as the guest sees it, such as virtio or scsi."""
    serial: str | None = None
    """Serial number of the disk."""


class VirtualMachineInstanceFileSystem(Struct, frozen=True, kw_only=True):
    """A file system that the guest has mounted."""

    disk: tuple[VirtualMachineInstanceFileSystemDisk, ...] = ()
    """Disks that hold it."""
    disk_name: str
    """Device in the guest, such as vda1."""
    file_system_type: str
    """Type, such as ext4 or NTFS."""
    mount_point: str
    """Where it is mounted."""
    total_bytes: Int32
    """Size in bytes."""
    used_bytes: Int32
    """Bytes in use."""


class VirtualMachineInstanceFileSystemInfo(Struct, frozen=True, kw_only=True):
    """The guest's file systems."""

    disks: tuple[VirtualMachineInstanceFileSystem, ...]
    """One entry for each."""


class VirtualMachineInstanceFileSystemList(Struct, frozen=True, kw_only=True):
    """Answer of filesystemlist."""

    api_version: str | None = None
    items: tuple[VirtualMachineInstanceFileSystem, ...]
    """The guest's file systems."""
    kind: str | None = None
    metadata: ListMeta = ListMeta()


class VirtualMachineInstanceGuestOSUser(Struct, frozen=True, kw_only=True):
    """Somebody logged in to the guest."""

    domain: str | None = None
    """Windows domain of the user."""
    login_time: float | None = None
    """Earliest login that lasts, in seconds since 1970."""
    user_name: str
    """Name of the user."""


class VirtualMachineInstanceGuestOSUserList(Struct, frozen=True, kw_only=True):
    """Answer of userlist."""

    api_version: str | None = None
    items: tuple[VirtualMachineInstanceGuestOSUser, ...]
    """Who is logged in."""
    kind: str | None = None
    metadata: ListMeta = ListMeta()


class VirtualMachineInstanceGuestAgentInfo(Struct, frozen=True, kw_only=True):
    """Answer of guestosinfo."""

    api_version: str | None = None
    fs_freeze_status: str | None = None
    """frozen once a freeze was asked for; else empty."""
    fs_info: VirtualMachineInstanceFileSystemInfo | None = None
    """Mounted file systems."""
    guest_agent_version: str | None = None
    """Version of the agent."""
    hostname: str | None = None
    """Name that the guest gives itself."""
    kind: str | None = None
    os: VirtualMachineInstanceGuestOSInfo = VirtualMachineInstanceGuestOSInfo()
    """The operating system."""
    supported_commands: Annotated[tuple[GuestAgentCommandInfo, ...], ATOMIC] = ()
    """Commands that the agent knows."""
    timezone: str | None = None
    """Time zone with offset, such as CET, 3600."""
    user_list: tuple[VirtualMachineInstanceGuestOSUser, ...] = ()
    """Who is logged in."""
