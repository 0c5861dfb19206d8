"""The guest's operating system, as its agent tells.

Apart from the status that it is part of: a launcher needs this alone, and every guest has one.
"""

from kubevirt.api.struct import Struct


class VirtualMachineInstanceGuestOSInfo(Struct, frozen=True, kw_only=True):
    """Guest system as its agent reports it."""

    name: str | None = None
    """Name of the system, e.g. Fedora Linux."""
    id: str | None = None
    """Short identifier, e.g. fedora."""
    kernel_release: str | None = None
    """Kernel release, as uname -r prints it."""
    kernel_version: str | None = None
    """Kernel build, as uname -v prints it."""
    machine: str | None = None
    """Hardware name, e.g. x86_64."""
    pretty_name: str | None = None
    """Name with version for display."""
    version: str | None = None
    """Version with its code name."""
    version_id: str | None = None
    """Bare version number."""
