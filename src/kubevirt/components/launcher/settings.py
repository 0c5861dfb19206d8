"""Settings of the manager: one value, written by `virt-launcher` from its flags, read once.

The manager has no flags of its own: what it is started with must be the same each time it dies and is
started again.
"""

from pathlib import Path

import msgspec

from kubevirt.base.errors import ConfigError
from kubevirt.host.libvirt.daemon import DaemonSettings
from kubevirt.virt.convert.facts import FirmwareFacts
from kubevirt.virt.layout import Layout


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    namespace: str = "default"
    uid: str
    """Of the instance. A launcher serves this one only: a name may come back, a UID never does."""
    layout: Layout = Layout()
    libvirt: DaemonSettings
    """The launcher's own daemon, which the monitor keeps alive."""
    kvm: bool = False
    """Whether guests run on the hardware; decided for the whole pod before it was made."""
    firmware: FirmwareFacts = FirmwareFacts()
    """EFI images below --ovmf-path."""
    qemu_timeout_s: float = 240.0
    """How long to wait for a guest to be asked for, and started; then the launcher is of no use."""
    grace_s: float = 30.0
    """For a guest whose instance names none."""
    farewell_s: float = 15.0
    """For a handler to hear of the guest's end, before the launcher ends without it; 15 as upstream."""
    claim_tolerance_percent: int = 10
    """How much smaller than its claim a file system may be and still hold the disk; 10 as upstream."""
    standalone: bool = False
    """There is no handler: nobody else shuts the guest down when the launcher is told to end."""
    commissioned: bool = False
    """What to run comes as a file (`commission.py`), before anybody may call."""
    image_volumes: bool = False
    """Container disks and kernels are looked for in whole images that the node has mounted."""
    verbosity: int = 2
    """Of the log, as everywhere."""

    @property
    def folder(self) -> str:
        """Notes that outlive the manager, shared with the monitor."""
        return f"{self.layout.private}/launcher"


def read(path: str | Path) -> Settings:
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=Settings)
    except FileNotFoundError:
        raise ConfigError(f"there are no settings at {path}; virt-launcher writes them") from None
    except msgspec.DecodeError as error:
        raise ConfigError(f"the settings at {path} cannot be used: {error}") from None


def write(path: str | Path, settings: Settings) -> None:
    Path(path).write_bytes(msgspec.json.format(msgspec.json.encode(settings)) + b"\n")
