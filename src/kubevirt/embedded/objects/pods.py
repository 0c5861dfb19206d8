"""What a pod says of itself."""

from typing import Final

from kubevirt.api.core.pod import Pod, PodSpec

_NOTHING: Final = PodSpec(containers=())


def spec_of(pod: Pod) -> PodSpec:
    """The server lets no pod in without one."""
    return pod.spec or _NOTHING
