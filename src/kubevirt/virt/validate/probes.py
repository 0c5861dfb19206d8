"""Liveness and readiness: one method each, and a network where one is needed."""

from typing import Final

from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.api.probe import Probe
from kubevirt.virt.validate.causes import Causes, invalid, plain
from kubevirt.virt.validate.rules import Rules

METHODS: Final = ("exec", "http_get", "tcp_socket", "guest_agent_ping")
COUNTERS: Final = {
    "initialDelaySeconds": "initial_delay_seconds",
    "timeoutSeconds": "timeout_seconds",
    "periodSeconds": "period_seconds",
    "successThreshold": "success_threshold",
    "failureThreshold": "failure_threshold",
}
LAST_PORT: Final = 65535


def probe_causes(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> Causes:
    del rules
    on_pod = any(network.pod is not None for network in spec.networks)
    if spec.readiness_probe:
        yield from _probe(spec.readiness_probe, f"{field}.readinessProbe", on_pod=on_pod)
    if spec.liveness_probe:
        here = f"{field}.livenessProbe"
        yield from _probe(spec.liveness_probe, here, on_pod=on_pod)
        if (spec.liveness_probe.success_threshold or 1) != 1:
            yield invalid(f"{here}.successThreshold", f"{here}.successThreshold must be 1")


def _probe(probe: Probe, here: str, *, on_pod: bool) -> Causes:
    if sum(getattr(probe, method) is not None for method in METHODS) != 1:
        yield invalid(here, f"{here} must have exactly one probe type set")
    if probe.exec is not None and not probe.exec.command:
        yield invalid(f"{here}.exec.command", f"{here}.exec.command must name a command")
    for kind, action in (("httpGet", probe.http_get), ("tcpSocket", probe.tcp_socket)):
        if action is None:
            continue
        if not on_pod:
            yield invalid(
                f"{here}.{kind}", f"{here}.{kind} is only allowed if the Pod Network is attached"
            )
        if isinstance(action.port, int) and not 0 < action.port <= LAST_PORT:
            yield invalid(
                f"{here}.{kind}.port",
                f"{here}.{kind}.port '{plain(action.port)}': must be between 1 and {LAST_PORT}",
            )
    for name, attribute in COUNTERS.items():
        number = getattr(probe, attribute)
        if number is not None and number < 0:
            yield invalid(f"{here}.{name}", f"{here}.{name} must be greater than or equal to 0")
