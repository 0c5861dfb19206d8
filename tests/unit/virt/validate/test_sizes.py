"""Memory, processors and machines that are refused, with KubeVirt's field and words."""

import pytest
from tests.unit.virt.validate.judged import said, written
from tests.unit.virt.validate.spec_parts import RESOURCES, Case, domain

MEMORY: dict[str, Case] = {
    "no memory": (
        domain(memory=None),
        f"{RESOURCES}.requests.memory",
        (
            "no memory requested, at least one of 'spec.domain.memory.guest', "
            "'spec.domain.memory.hugepages.pageSize' or 'spec.domain.resources.requests.memory' must be set"
        ),
    ),
    "less than 1M": (
        domain(resources={"requests": {"memory": "64k"}}),
        f"{RESOURCES}.requests.memory",
        f"{RESOURCES}.requests.memory '64k': must be greater than or equal to 1M.",
    ),
    "memory above its limit": (
        domain(memory=None, resources={"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}}),
        f"{RESOURCES}.requests.memory",
        f"{RESOURCES}.requests.memory '2Gi' is greater than {RESOURCES}.limits.memory '1Gi'",
    ),
    "cpu above its limit": (
        domain(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
        f"{RESOURCES}.requests.cpu",
        f"{RESOURCES}.requests.cpu '2' is greater than {RESOURCES}.limits.cpu '1'",
    ),
    "a negative request": (
        domain(resources={"requests": {"cpu": "-1"}}),
        f"{RESOURCES}.requests.cpu",
        f"{RESOURCES}.requests.cpu '-1': must be greater than or equal to 0.",
    ),
    "no quantity": (
        domain(memory={"guest": "much"}),
        "spec.domain.memory.guest",
        (
            "spec.domain.memory.guest 'much': quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        ),
    ),
    "guest above the limit": (
        domain(memory={"guest": "2Gi"}, resources={"limits": {"memory": "1Gi"}}),
        "spec.domain.memory.guest",
        (
            "spec.domain.memory.guest '2Gi' must be equal to or less than the memory limit "
            f"{RESOURCES}.limits.memory '1Gi'"
        ),
    ),
    "smaller than a page": (
        domain(memory={"guest": "64Mi", "hugepages": {"pageSize": "1Gi"}}),
        f"{RESOURCES}.requests.memory",
        (
            f"{RESOURCES}.requests.memory '64Mi' must be equal to or larger than page size "
            "spec.domain.hugepages.size '1Gi'"
        ),
    ),
    "no multiple of pages": (
        domain(memory={"guest": "65Mi", "hugepages": {"pageSize": "2Mi"}}),
        f"{RESOURCES}.requests.memory",
        (
            f"{RESOURCES}.requests.memory '65Mi' is not a multiple of the page size "
            "spec.domain.hugepages.size '2Mi'"
        ),
    ),
    "a page of no size": (
        domain(memory={"hugepages": {"pageSize": "big"}}),
        "spec.domain.hugepages.size",
        (
            "spec.domain.hugepages.size 'big': quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        ),
    ),
    "a page of no size for a guest of none": (
        domain(memory={"guest": 0, "hugepages": {"pageSize": "a"}}),
        "spec.domain.hugepages.size",
        (
            "spec.domain.hugepages.size 'a': quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        ),
    ),
    "a ceiling below": (
        domain(memory={"guest": "2Gi", "maxGuest": "1Gi"}),
        "spec.domain.memory.maxGuest",
        "Guest memory is greater than the configured maxGuest memory",
    ),
    "overhead left out of a limit": (
        domain(resources={"overcommitGuestOverhead": True, "limits": {"memory": "1Gi"}}),
        f"{RESOURCES}.limits.memory",
        (
            f"{RESOURCES}.overcommitGuestOverhead is only allowed without {RESOURCES}.limits.memory; "
            "remove one of them"
        ),
    ),
}

CPU: dict[str, Case] = {
    "dedicated without a number": (
        domain(cpu={"dedicatedCpuPlacement": True}),
        "spec.domain.cpu.dedicatedCpuPlacement",
        (
            f"either {RESOURCES}.requests.cpu or {RESOURCES}.limits.cpu or spec.domain.cpu.cores must be "
            "provided when DedicatedCPUPlacement is true "
        ),
    ),
    "dedicated with two numbers": (
        domain(
            cpu={"dedicatedCpuPlacement": True},
            resources={"requests": {"cpu": "1"}, "limits": {"cpu": "2"}},
        ),
        "spec.domain.cpu.dedicatedCpuPlacement",
        (
            f"{RESOURCES}.requests.cpu or {RESOURCES}.limits.cpu must be equal when DedicatedCPUPlacement "
            "is true "
        ),
    ),
    "a part of a dedicated CPU": (
        domain(cpu={"dedicatedCpuPlacement": True}, resources={"requests": {"cpu": "800m"}}),
        f"{RESOURCES}.requests.cpu",
        "provided resources CPU requests must be an interger",
    ),
    "an emulator thread of its own": (
        domain(cpu={"isolateEmulatorThread": True}),
        "spec.domain.cpu.isolateEmulatorThread",
        "IsolateEmulatorThread should be only set in combination with DedicatedCPUPlacement",
    ),
    "numa without pages": (
        domain(
            cpu={"cores": 1, "dedicatedCpuPlacement": True, "numa": {"guestMappingPassthrough": {}}}
        ),
        "spec.domain.cpu.numa.guestMappingPassthrough",
        "passing through a numa topology is restricted to VMIs with hugepages enabled",
    ),
    "more sockets than sockets": (
        domain(cpu={"sockets": 4, "maxSockets": 2}),
        "spec.domain.cpu.sockets",
        "Number of sockets in CPU topology is greater than the maximum sockets allowed",
    ),
    "an unknown policy": (
        domain(cpu={"features": [{"name": "vmx", "policy": "please"}]}),
        "spec.domain.cpu.features[0].policy",
        "CPU feature vmx uses policy please that is not supported.",
    ),
    "too many CPUs": (
        domain(cpu={"sockets": 100, "cores": 100}),
        "spec.domain.cpu",
        "spec.domain.cpu asks for more vCPUs than the 4096 that QEMU can give a guest",
    ),
    "a machine of another kind": (
        domain(machine={"type": "pc-i440fx-2.10"}),
        "spec.domain.machine.type",
        "spec.domain.machine.type is not supported: pc-i440fx-2.10 (allowed values: [q35* pc-q35*])",
    ),
    "an architecture of another kind": (
        {"architecture": "ppc64le"},
        "spec.architecture",
        "unsupported architecture: ppc64le",
    ),
}

CASES = MEMORY | CPU


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_refusal_names_the_field_and_the_reason(case: Case) -> None:
    patch, field, message = case
    assert (field, message) in said(written(patch))


def test_a_small_guest_is_fine() -> None:
    assert written({}) == ()


def test_a_cluster_can_allow_other_machines() -> None:
    old = {"emulatedMachines": ["pc-i440fx*"]}
    assert written(domain(machine={"type": "pc-i440fx-2.10"}), old) == ()
    new = {"architectureConfiguration": {"amd64": {"emulatedMachines": ["microvm"]}}}
    assert written(domain(machine={"type": "microvm"}), new) == ()
    assert written(domain(machine={"type": "q35"}), new)
