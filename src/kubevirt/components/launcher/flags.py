"""The flags of virt-launcher in a pod, as virt-controller writes them.

A flag whose feature does not exist here is refused with a sentence: a guest that runs differently from
what its pod says is worse than one that does not start.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Final

from kubevirt.base.errors import ConfigError
from kubevirt.components.launcher.firmware import firmware_in
from kubevirt.components.launcher.parser import Parser
from kubevirt.components.launcher.settings import Settings
from kubevirt.host.libvirt.daemon import DaemonSettings
from kubevirt.virt.layout import Layout

DAEMON_HOME: Final = "/var/run/libvirt"
OVMF: Final = "/usr/share/OVMF"
LEARNED: Final = f"{sys.prefix}/learned"
"""Where an image may have what is known of its QEMU. Where there is nothing, QEMU is asked."""

MISSING: Final = (
    "--keep-after-failure",
    "--simulate-crash",
    "--upgrade-ordinal-ifaces",
    "--vgpu-dedicated-hook",
    "--vm-stats-collector",
    "--firmware-auto-selection",
)
"""Switches of KubeVirt's launcher whose feature does not exist here."""

_UNIT_S: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(h|ms|us|µs|ns|m|s)")


def settings(words: Sequence[str]) -> tuple[Settings, float]:
    """The manager's settings, and how long the monitor waits for a guest to end."""
    given = _parser().parse_args(_go_spelling(words))
    _refuse_what_is_missing(given)
    layout = Layout(
        share=given.kubevirt_share_dir,
        ephemeral=given.ephemeral_disk_dir,
        container_disks=given.container_disk_dir,
    )
    made = Settings(
        name=given.name,
        namespace=given.namespace,
        uid=given.uid,
        layout=layout,
        libvirt=DaemonSettings(
            home=DAEMON_HOME, capabilities_seed=LEARNED, emulated=given.use_emulation
        ),
        kvm=not given.use_emulation,
        firmware=firmware_in(given.ovmf_path),
        qemu_timeout_s=given.qemu_timeout,
        grace_s=given.grace_period_seconds,
        claim_tolerance_percent=given.less_pvc_space_toleration,
        image_volumes=given.image_volume,
        verbosity=given.v,
    )
    return made, float(given.grace_period_seconds)


def duration_s(text: str) -> float:
    """A Go duration, such as 5m, 1m30s or 240s, in seconds."""
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration; write it as 5m or 240s")
    return sum(float(number) * _UNIT_S[unit] for number, unit in parts)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="virt-launcher",
        allow_abbrev=False,
        description="Run one VirtualMachineInstance in this container, as its first process. "
        "virt-handler tells it what to run.",
        epilog="To run a VirtualMachineInstance from a file, without any cluster: "
        "virt-launcher --standalone vmi.yaml --console; see virt-launcher --standalone --help.",
    )
    layout = Layout()
    add = parser.add_argument
    add("--name", required=True, help="of the VirtualMachineInstance")
    add("--uid", required=True, help="of the VirtualMachineInstance")
    add("--namespace", required=True, help="of the VirtualMachineInstance")
    add(
        *("--qemu-timeout",),
        type=duration_s,
        default=300.0,
        metavar="DURATION",
        help="how long to wait for a guest to be asked for; default 5m",
    )
    add("--kubevirt-share-dir", default=layout.share, help="shared with virt-handler")
    add("--ephemeral-disk-dir", default=layout.ephemeral, help="for overlays and scratch disks")
    add("--container-disk-dir", default=layout.container_disks, help="with the container disks")
    add(
        *("--grace-period-seconds",),
        type=int,
        default=30,
        metavar="N",
        help="for the guest to end when the launcher is told to; default 30",
    )
    add("--ovmf-path", default=OVMF, help="folder of EFI images")
    add(
        *("--less-pvc-space-toleration",),
        type=int,
        default=10,
        metavar="PERCENT",
        help="how much smaller than its claim a file system may be; default 10",
    )
    _switch(parser, "--use-emulation", "emulate the processor: this node has no KVM")
    _switch(parser, "--run-as-nonroot", "taken for granted: a launcher never runs as root")
    _switch(parser, "--allow-emulation", "with --use-emulation only: the pod decides, not the node")
    add("--hypervisor", default="kvm", help="kvm is the only one")
    add("--hook-sidecars", type=int, default=0, metavar="N", help="0: there are no hooks here")
    add("--disk-memory-limit", type=int, metavar="BYTES", help=argparse.SUPPRESS)
    add("--libvirt-log-filters", help=argparse.SUPPRESS)
    _switch(parser, "--image-volume", "container disks are whole images that the node has mounted")
    for name in MISSING:
        _switch(parser, name, argparse.SUPPRESS)
    add("-v", type=int, default=2, metavar="LEVEL", help="how much is logged; default 2")
    return parser


def _switch(parser: argparse.ArgumentParser, name: str, words: str) -> None:
    """A Go boolean: `--flag`, `--flag=true`, `--flag=false`."""
    parser.add_argument(name, nargs="?", const=True, default=False, type=_boolean, help=words)


def _boolean(text: str) -> bool:
    values = {"true": True, "1": True, "t": True, "false": False, "0": False, "f": False}
    if text.lower() not in values:
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return values[text.lower()]


def _go_spelling(words: Sequence[str]) -> list[str]:
    """Go takes one dash for two, and a switch's value only behind `=`: what follows is the next flag."""
    return [f"-{word}" if re.match(r"-[a-z][a-z-]+", word) else word for word in words]


def _is_too_little(disk_memory: int | None) -> bool:
    """Our limit is lower than upstream's 2000 MiB, and a fixed one."""
    if disk_memory is None:
        return False
    from kubevirt.host.qemu_img.program import LIMITS  # noqa: PLC0415  # weighty, and nobody asks

    return disk_memory < LIMITS.memory_bytes


def _refuse_what_is_missing(given: argparse.Namespace) -> None:
    missing = {
        f"--hook-sidecars {given.hook_sidecars}": given.hook_sidecars > 0,
        f"--hypervisor {given.hypervisor}": given.hypervisor != "kvm",
        **{name: getattr(given, name.removeprefix("--").replace("-", "_")) for name in MISSING},
        "--libvirt-log-filters": bool(given.libvirt_log_filters),
        "--allow-emulation without --use-emulation": given.allow_emulation
        and not given.use_emulation,
        f"--disk-memory-limit {given.disk_memory_limit}": _is_too_little(given.disk_memory_limit),
    }
    for flag, is_asked_for in missing.items():
        if is_asked_for:
            raise ConfigError(
                f"this virt-launcher has nothing for {flag}; it comes from a virt-controller of "
                f"another version, or from a setting of the KubeVirt object that is to be removed"
            )
    if given.grace_period_seconds < 0 or not 0 <= given.less_pvc_space_toleration <= 100:
        raise ConfigError(
            "--grace-period-seconds must not be negative, and --less-pvc-space-toleration is a "
            "percentage"
        )
