"""What the agent told, as KubeVirt's API shows it."""

from kubevirt.api.guest_agent import (
    GuestAgentCommandInfo,
    VirtualMachineInstanceFileSystem,
    VirtualMachineInstanceFileSystemDisk,
    VirtualMachineInstanceFileSystemInfo,
    VirtualMachineInstanceFileSystemList,
    VirtualMachineInstanceGuestAgentInfo,
    VirtualMachineInstanceGuestOSUser,
    VirtualMachineInstanceGuestOSUserList,
)
from kubevirt.api.guest_os import VirtualMachineInstanceGuestOSInfo
from kubevirt.components.launcher.guest_agent import Knowledge
from kubevirt.host.libvirt.agent_answers import GuestFilesystem, GuestOs, GuestTimezone, GuestUser
from kubevirt.rpc import reports


def agent_info(known: Knowledge) -> VirtualMachineInstanceGuestAgentInfo:
    commands = known.info.supported_commands if known.info else ()
    return VirtualMachineInstanceGuestAgentInfo(
        guest_agent_version=known.info.version if known.info else None,
        supported_commands=tuple(
            GuestAgentCommandInfo(name=each.name, enabled=each.enabled) for each in commands
        ),
        hostname=known.hostname or None,
        os=_os(known.os),
        timezone=_timezone(known.timezone),
        user_list=tuple(map(_user, known.users)),
        fs_info=VirtualMachineInstanceFileSystemInfo(
            disks=tuple(map(_filesystem, known.filesystems))
        ),
        fs_freeze_status=reports.FROZEN if known.is_frozen else None,
    )


def user_list(known: Knowledge) -> VirtualMachineInstanceGuestOSUserList:
    return VirtualMachineInstanceGuestOSUserList(items=tuple(map(_user, known.users)))


def filesystem_list(known: Knowledge) -> VirtualMachineInstanceFileSystemList:
    return VirtualMachineInstanceFileSystemList(items=tuple(map(_filesystem, known.filesystems)))


def _os(system: GuestOs) -> VirtualMachineInstanceGuestOSInfo:
    return VirtualMachineInstanceGuestOSInfo(
        name=system.name or None,
        id=system.id or None,
        kernel_release=system.kernel_release or None,
        kernel_version=system.kernel_version or None,
        machine=system.machine or None,
        pretty_name=system.pretty_name or None,
        version=system.version or None,
        version_id=system.version_id or None,
    )


def _timezone(zone: GuestTimezone | None) -> str | None:
    return f"{zone.zone}, {zone.offset}" if zone else None


def _user(user: GuestUser) -> VirtualMachineInstanceGuestOSUser:
    return VirtualMachineInstanceGuestOSUser(
        user_name=user.user, domain=user.domain or None, login_time=user.login_time
    )


def _filesystem(found: GuestFilesystem) -> VirtualMachineInstanceFileSystem:
    return VirtualMachineInstanceFileSystem(
        disk_name=found.name,
        mount_point=found.mountpoint,
        file_system_type=found.type,
        total_bytes=found.total_bytes or 0,
        used_bytes=found.used_bytes or 0,
        disk=tuple(
            VirtualMachineInstanceFileSystemDisk(bus_type=each.bus_type, serial=each.serial or None)
            for each in found.disk
        ),
    )
