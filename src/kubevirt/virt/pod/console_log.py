"""The guest's serial console as the log of a container, for instances that ask for it.

kubectl logs virt-launcher-testvm-x7k2p -c guest-console-log
"""

from typing import Final

from kubevirt.api.core.container import Container, ResourceRequirements, VolumeMount
from kubevirt.virt.pod import folders, security
from kubevirt.virt.pod.launch import Launch

NAME: Final = "guest-console-log"
RESOURCES: Final = ResourceRequirements(
    requests={"cpu": "5m", "memory": "2M"}, limits={"cpu": "15m", "memory": "20M"}
)

_FOLLOW: Final = 'trap "exit 0" TERM; /usr/bin/tail -n +1 -F "$0" & wait'
"""The first process of a container is deaf to what it makes no provision for: as one, `tail` had to be killed when the pod's
time to end was over, and the instance was there until then.
"""


def containers(launch: Launch) -> tuple[Container, ...]:
    """One that starts before the launcher and ends after it; a shell and coreutils' `tail` are all it takes."""
    devices = launch.devices
    if not devices.log_serial_console or devices.autoattach_serial_console is False:
        return ()
    own = launch.config.support.get(NAME)
    resources = ResourceRequirements(
        requests={**RESOURCES.requests, **(own.requests if own else {})},
        limits={**RESOURCES.limits, **(own.limits if own else {})},
    )
    layout = launch.layout
    return (
        Container(
            name=NAME,
            image=launch.config.launcher_image,
            image_pull_policy=launch.config.pull_policy,
            command=("/bin/sh", "-c", _FOLLOW, layout.serial_log(launch.uid)),
            resources=resources,
            restart_policy="Always",
            security_context=security.CONTAINER,
            volume_mounts=(
                VolumeMount(name=folders.PRIVATE, mount_path=layout.private, read_only=True),
            ),
        ),
    )
