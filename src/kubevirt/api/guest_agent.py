"""What the agent inside a guest tells."""

from typing import Annotated

from kubevirt.api.instance_status import VirtualMachineInstanceGuestOSInfo
from kubevirt.api.meta import ListMeta
from kubevirt.api.struct import ATOMIC, Int32, Struct


class GuestAgentCommandInfo(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    enabled: bool | None = None


class VirtualMachineInstanceFileSystemDisk(Struct, frozen=True, kw_only=True):
    """…"""

    bus_type: str
    serial: str | None = None


class VirtualMachineInstanceFileSystem(Struct, frozen=True, kw_only=True):
    """…"""

    disk: tuple[VirtualMachineInstanceFileSystemDisk, ...] = ()
    disk_name: str
    file_system_type: str
    mount_point: str
    total_bytes: Int32
    used_bytes: Int32


class VirtualMachineInstanceFileSystemInfo(Struct, frozen=True, kw_only=True):
    """…"""

    disks: tuple[VirtualMachineInstanceFileSystem, ...]


class VirtualMachineInstanceFileSystemList(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    items: tuple[VirtualMachineInstanceFileSystem, ...]
    kind: str | None = None
    metadata: ListMeta = ListMeta()


class VirtualMachineInstanceGuestOSUser(Struct, frozen=True, kw_only=True):
    """…"""

    domain: str | None = None
    login_time: float | None = None
    user_name: str


class VirtualMachineInstanceGuestOSUserList(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    items: tuple[VirtualMachineInstanceGuestOSUser, ...]
    kind: str | None = None
    metadata: ListMeta = ListMeta()


class VirtualMachineInstanceGuestAgentInfo(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    fs_freeze_status: str | None = None
    fs_info: VirtualMachineInstanceFileSystemInfo | None = None
    guest_agent_version: str | None = None
    hostname: str | None = None
    kind: str | None = None
    os: VirtualMachineInstanceGuestOSInfo = VirtualMachineInstanceGuestOSInfo()
    supported_commands: Annotated[tuple[GuestAgentCommandInfo, ...], ATOMIC] = ()
    timezone: str | None = None
    user_list: tuple[VirtualMachineInstanceGuestOSUser, ...] = ()
