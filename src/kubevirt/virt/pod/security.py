"""Privileges: none. The pod fits into a namespace that enforces the `restricted` standard.

Whatever needs more is done from outside by virt-handler: network cards, DHCP, mounts of images.
"""

from typing import Final

from kubevirt.api.core.container import Capabilities, SecurityContext, SELinuxOptions
from kubevirt.api.core.pod import PodSecurityContext
from kubevirt.virt.pod.launch import Launch

USER: Final = 107
"""qemu, in the launcher's image and on every node."""

CONTAINER: Final = SecurityContext(
    allow_privilege_escalation=False, capabilities=Capabilities(drop=("ALL",))
)
"""Of each container."""


def pod(launch: Launch) -> PodSecurityContext:
    selinux = launch.config.selinux_type
    return PodSecurityContext(
        fs_group=USER,
        run_as_group=USER,
        run_as_non_root=True,
        run_as_user=USER,
        seccomp_profile=launch.config.seccomp,
        se_linux_options=SELinuxOptions(type=selinux) if selinux else None,
    )
