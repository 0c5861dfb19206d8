"""Probes of the guest as probes of its container.

The node asks the pod's address, behind which the guest is; what only the guest's agent can answer is
asked by a program in the launcher's container.
"""

from typing import Final

from kubevirt.api.core.probes import ExecAction
from kubevirt.api.core.probes import Probe as PodProbe
from kubevirt.api.probe import Probe
from kubevirt.virt.errors import SpecError
from kubevirt.virt.pod.launch import Launch

PROGRAM: Final = "virt-probe"
DEFAULT_TIMEOUT_S: Final = 1
START_S: Final = 10
"""A container starts before its guest: manifests count from the guest's start, and upstream takes this to be in
between. A liveness probe that came sooner would end guests that live there.
"""
ASKING_S: Final = 1
"""For `virt-probe` itself, on top of what the guest is given to answer."""
_MOST: Final = 2**31 - 1
"""What a pod can hold."""


def probe(launch: Launch, field: str, wanted: Probe | None) -> PodProbe | None:
    """`field` is for the sentence of a refusal."""
    if wanted is None:
        return None
    methods = (wanted.exec, wanted.guest_agent_ping, wanted.http_get, wanted.tcp_socket)
    if sum(each is not None for each in methods) != 1:
        raise SpecError(
            f"either spec.{field}.tcpSocket, spec.{field}.exec, spec.{field}.httpGet or "
            f"spec.{field}.guestAgentPing must be set if a spec.{field} is specified"
        )
    return PodProbe(
        exec=_asked_inside(launch, wanted),
        failure_threshold=wanted.failure_threshold,
        http_get=wanted.http_get,
        initial_delay_seconds=_longer(wanted.initial_delay_seconds, START_S),
        period_seconds=wanted.period_seconds,
        success_threshold=wanted.success_threshold,
        tcp_socket=wanted.tcp_socket,
        timeout_seconds=_timeout_s(wanted),
    )


def _timeout_s(wanted: Probe) -> int | None:
    if wanted.exec is None and wanted.guest_agent_ping is None:
        return wanted.timeout_seconds
    return _longer(wanted.timeout_seconds or DEFAULT_TIMEOUT_S, ASKING_S)


def _longer(time_s: int | None, more_s: int) -> int:
    return min((time_s or 0) + more_s, _MOST)


def _asked_inside(launch: Launch, wanted: Probe) -> ExecAction | None:
    """`--` ends our words: what follows is the guest's, whatever it looks like."""
    if wanted.exec is None and wanted.guest_agent_ping is None:
        return None
    start = (
        PROGRAM,
        *("--domainName", f"{launch.namespace}_{launch.name}"),
        *("--timeoutSeconds", str(wanted.timeout_seconds or DEFAULT_TIMEOUT_S)),
    )
    if wanted.exec is None:
        return ExecAction(command=(*start, "--guestAgentPing"))
    if not wanted.exec.command or not wanted.exec.command[0]:
        raise SpecError("a probe with exec must name a command")
    program, *arguments = wanted.exec.command
    return ExecAction(command=(*start, f"--command={program}", "--", *arguments))
