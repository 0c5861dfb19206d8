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
        initial_delay_seconds=wanted.initial_delay_seconds,
        period_seconds=wanted.period_seconds,
        success_threshold=wanted.success_threshold,
        tcp_socket=wanted.tcp_socket,
        timeout_seconds=wanted.timeout_seconds,
    )


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
