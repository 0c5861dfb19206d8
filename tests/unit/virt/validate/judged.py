"""Objects for the judges: a small guest that is fine, changed as a test says."""

from collections.abc import Mapping
from typing import Any

import msgspec
from tests.unit.virt.domain_cases import a_vmi, merged

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.machine import VirtualMachine
from kubevirt.virt.validate import instance, machine
from kubevirt.virt.validate.causes import Cause
from kubevirt.virt.validate.instance_spec import spec_causes
from kubevirt.virt.validate.requester import Requester
from kubevirt.virt.validate.rules import Rules

USER = Requester(username="jane", groups=("system:authenticated",))
CONTROLLER = Requester(username="system:serviceaccount:kubevirt:kubevirt-controller")
API = Requester(username="system:serviceaccount:kubevirt:kubevirt-apiserver")

SMALL_MACHINE: Mapping[str, Any] = {
    "metadata": {"name": "testvm", "namespace": "default"},
    "spec": {
        "runStrategy": "Halted",
        "template": {
            "spec": {"domain": {"memory": {"guest": "64Mi"}, "devices": {}}},
        },
    },
}
ALL_BUILT = frozenset(
    {
        "agentCredentials",
        "backups",
        "downwardMetrics",
        "memoryLock",
        "usbRedirection",
        "vsock",
        "dataVolumes",
        "gpus",
        "hostDevices",
        "hotplug",
        "launchSecurity",
        "multus",
        "passtBinding",
        "binding",
        "sriov",
        "virtiofs",
        "resourceClaims",
        "migrations",
        "sidecars",
    }
)


def rules(
    configuration: Mapping[str, Any] | None = None, *, built: frozenset[str] = ALL_BUILT
) -> Rules:
    """Without the refusals of what is not built, which have tests of their own."""
    return Rules(
        configuration=msgspec.convert(configuration or {}, KubeVirtConfiguration), built=built
    )


def gated(*gates: str) -> dict[str, Any]:
    return {"developerConfiguration": {"featureGates": list(gates)}}


def written(
    spec: Mapping[str, Any], configuration: Mapping[str, Any] | None = None
) -> tuple[Cause, ...]:
    """The causes of a spec as it was written, with no defaults filled in."""
    return tuple(spec_causes(a_vmi({"spec": spec}).spec, "spec", rules(configuration)))


def of_instance(
    patch: Mapping[str, Any], requester: Requester = USER, the_rules: Rules | None = None
) -> tuple[Cause, ...]:
    return instance.created(a_vmi(patch), requester, the_rules or rules())


def a_vm(patch: Mapping[str, Any]) -> VirtualMachine:
    return msgspec.convert(merged(SMALL_MACHINE, patch), VirtualMachine)


def of_machine(patch: Mapping[str, Any], the_rules: Rules | None = None) -> tuple[Cause, ...]:
    return machine.created(a_vm(patch), the_rules or rules())


def said(causes: tuple[Cause, ...]) -> list[tuple[str, str]]:
    return [(cause.field, cause.message) for cause in causes]
