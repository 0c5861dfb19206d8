"""Probes: how often and how patiently, as Kubernetes has it for containers."""

from msgspec.structs import replace

from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.api.probe import Probe

TIMEOUT_S = 1
PERIOD_S = 10
SUCCESSES = 1
FAILURES = 3


def with_probes(spec: VirtualMachineInstanceSpec) -> VirtualMachineInstanceSpec:
    return replace(
        spec,
        readiness_probe=spec.readiness_probe and _with_defaults(spec.readiness_probe),
        liveness_probe=spec.liveness_probe and _with_defaults(spec.liveness_probe),
    )


def _with_defaults(probe: Probe) -> Probe:
    # Zero is what Go cannot tell from nothing, so it means the default there and here.
    return replace(
        probe,
        timeout_seconds=probe.timeout_seconds or TIMEOUT_S,
        period_seconds=probe.period_seconds or PERIOD_S,
        success_threshold=probe.success_threshold or SUCCESSES,
        failure_threshold=probe.failure_threshold or FAILURES,
    )
