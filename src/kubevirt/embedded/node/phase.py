"""The phase of a pod, told from the states of its containers as a kubelet tells it."""

from kubevirt.api.core.pod import ContainerStatus, PodStatus


def of(status: PodStatus, *, has_verdict: bool, is_over: bool, is_initialized: bool) -> str:
    """`status` with the container statuses only. A final phase is never seen while something runs."""
    if is_over:
        has_failed = has_verdict or not all(map(_has_succeeded, status.container_statuses))
        return "Failed" if has_failed else "Succeeded"
    if not is_initialized or any(map(_is_new, status.container_statuses)):
        return "Pending"
    return "Running"


def _has_succeeded(status: ContainerStatus) -> bool:
    terminated = status.state.terminated if status.state else None
    return terminated is not None and terminated.exit_code == 0


def _is_new(status: ContainerStatus) -> bool:
    """It waits and has never run."""
    return bool(status.state and status.state.waiting) and status.last_state is None
