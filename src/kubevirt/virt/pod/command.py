"""The command line of virt-launcher, word by word as the mission's pod has it.

Each value is a word of its own, and each flag takes one: no text of an instance can become a flag.
"""

from typing import Final

from kubevirt.virt.errors import SpecError
from kubevirt.virt.pod.config import DEFAULT_VERBOSITY
from kubevirt.virt.pod.launch import Launch

PROGRAM: Final = "/usr/bin/virt-launcher"
QEMU_TIMEOUT: Final = "5m"
DEFAULT_GRACE_S: Final = 30
LAUNCHER_GRACE_S: Final = 15
"""For the launcher to end after its guest had all the time that it was promised."""
POD_GRACE_S: Final = 15
"""For the pod beyond that: a launcher that is killed cannot tell how its guest ended."""
MOST_GRACE_S: Final = 2**31


def command(launch: Launch) -> tuple[str, ...]:
    layout, config = launch.layout, launch.config
    return (
        PROGRAM,
        *("--qemu-timeout", QEMU_TIMEOUT),
        *("--name", launch.name),
        *("--uid", launch.uid),
        *("--namespace", launch.namespace),
        *("--kubevirt-share-dir", layout.share),
        *("--ephemeral-disk-dir", layout.ephemeral),
        *("--container-disk-dir", layout.container_disks),
        *("--grace-period-seconds", str(grace_s(launch) + LAUNCHER_GRACE_S)),
        *("--hook-sidecars", "0"),
        *("--less-pvc-space-toleration", str(config.claim_tolerance_percent)),
        *("--ovmf-path", config.ovmf_path),
        *(("--use-emulation",) if config.emulation else ()),
        *(("--image-volume",) if has_image_volumes(launch) else ()),
        *(("-v", str(config.verbosity)) if config.verbosity != DEFAULT_VERBOSITY else ()),
    )


def grace_s(launch: Launch) -> int:
    """How long the guest may take to shut down."""
    wanted = launch.spec.termination_grace_period_seconds
    if wanted is None:
        return DEFAULT_GRACE_S
    if not 0 <= wanted <= MOST_GRACE_S:
        raise SpecError(
            f"terminationGracePeriodSeconds is {wanted}; it must be between 0 and {MOST_GRACE_S}"
        )
    return wanted


def pod_grace_s(launch: Launch) -> int:
    return grace_s(launch) + LAUNCHER_GRACE_S + POD_GRACE_S


def has_image_volumes(launch: Launch) -> bool:
    """Whether the launcher is to look for its disks in images that are mounted as they are."""
    has_images = any(each.container_disk for each in launch.spec.volumes) or launch.kernel_image
    return launch.config.image_volumes and bool(has_images)
