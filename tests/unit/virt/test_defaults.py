"""Defaults: what a spec means where it says nothing; never against what it says."""

from typing import Any

import msgspec
import pytest
from tests.unit.virt.domain_cases import a_vmi

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.errors import UserError
from kubevirt.base.quantity import Quantity
from kubevirt.virt.architecture import AMD64, ARM64
from kubevirt.virt.defaults.disks import pull_policy
from kubevirt.virt.defaults.instance import with_defaults
from kubevirt.virt.defaults.memory import why_memory_cannot_grow


def defaulted(
    patch: dict[str, Any] | None = None, configuration: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The instance with its defaults, as JSON: that is what a user sees."""
    settings = msgspec.convert(configuration or {}, KubeVirtConfiguration)
    encoded = msgspec.json.encode(with_defaults(a_vmi(patch or {}), settings))
    return msgspec.json.decode(encoded, type=dict[str, Any])


def domain_of(
    domain: dict[str, Any], configuration: dict[str, Any] | None = None, **spec: Any
) -> dict[str, Any]:
    result: dict[str, Any] = defaulted({"spec": {"domain": domain, **spec}}, configuration)
    found: dict[str, Any] = result["spec"]["domain"]
    return found


def test_a_bare_guest_is_written_out() -> None:
    instance = defaulted({"metadata": {"uid": None}, "spec": {"domain": {"firmware": None}}})
    assert instance["spec"] == {
        "architecture": "amd64",
        "domain": {
            "machine": {"type": "q35"},
            "cpu": {
                "sockets": 1,
                "cores": 1,
                "threads": 1,
                "model": "host-model",
                "maxSockets": 4,
            },
            "memory": {"guest": "64Mi"},
            "features": {"acpi": {"enabled": True}},
            "firmware": {"uuid": "0fc8259f-99ae-5e7d-aa02-3a2f862dbebb"},
            "devices": {"autoattachPodInterface": False},
        },
    }
    assert instance["status"] == {
        "currentCPUTopology": {"sockets": 1, "cores": 1, "threads": 1},
        "memory": {"guestAtBoot": "64Mi", "guestCurrent": "64Mi", "guestRequested": "64Mi"},
    }


EVERYTHING: dict[str, Any] = {
    "spec": {
        "domain": {
            "clock": {"timer": {"hpet": {}, "pit": {"present": False}}},
            "features": {"hyperv": {"evmcs": {}, "synictimer": {}, "spinlocks": {}}, "apic": {}},
            "firmware": {"bootloader": {"efi": {}}},
            "resources": {"limits": {"cpu": "2"}, "requests": {"memory": "2Gi"}},
            "memory": None,
            "devices": {
                "autoattachPodInterface": True,
                "autoattachInputDevice": True,
                "watchdog": {"name": "dog"},
                "disks": [{"name": "drive", "cdrom": {}}, {"name": "lun", "lun": {}}],
            },
        },
        "volumes": [
            {"name": "drive", "containerDisk": {"image": "a"}},
            {"name": "lun", "persistentVolumeClaim": {"claimName": "a"}},
            {"name": "more", "emptyDisk": {"capacity": "1Gi"}},
            {"name": "dump", "memoryDump": {"claimName": "x"}},
        ],
    }
}


@pytest.mark.parametrize("architecture", ["amd64", "arm64", "s390x"])
def test_a_second_pass_changes_nothing(architecture: str) -> None:
    vmi = msgspec.structs.replace(a_vmi(EVERYTHING))
    spec = msgspec.structs.replace(vmi.spec, architecture=architecture)
    once = with_defaults(msgspec.structs.replace(vmi, spec=spec), KubeVirtConfiguration())
    assert with_defaults(once, KubeVirtConfiguration()) == once


def test_what_the_user_wrote_stays() -> None:
    written = {
        "machine": {"type": "pc-q35-7.2"},
        "cpu": {"cores": 2, "model": "Haswell", "maxSockets": 8},
        "memory": {"guest": "2Gi", "maxGuest": "3Gi"},
        "features": {"acpi": {"enabled": False}},
        "firmware": {"uuid": "5d307ca9-b3ef-428c-8861-06e72d69f223"},
    }
    domain = domain_of(written)
    assert {key: domain[key] for key in written} == written


def test_the_cluster_has_a_say() -> None:
    configuration = {
        "cpuModel": "Nehalem",
        "cpuRequest": "200m",
        "architectureConfiguration": {
            "defaultArchitecture": "amd64",
            "amd64": {"machineType": "pc-q35-9.9"},
        },
        "liveUpdateConfiguration": {
            "maxCpuSockets": 3,
            "maxGuest": "8Gi",
            "maxHotplugRatio": 2,
        },
    }
    domain = domain_of({"memory": {"guest": "1Gi"}}, configuration)
    assert domain["machine"] == {"type": "pc-q35-9.9"}
    assert domain["cpu"]["model"] == "Nehalem"
    assert domain["cpu"]["maxSockets"] == 3
    assert domain["memory"] == {"guest": "1Gi", "maxGuest": "8Gi"}
    assert domain["resources"] == {"requests": {"cpu": "200m"}}


def test_the_old_machine_type_setting_still_counts() -> None:
    assert domain_of({}, {"machineType": "pc-q35-8.8"})["machine"] == {"type": "pc-q35-8.8"}


def test_the_architecture_can_be_the_clusters() -> None:
    configuration = {"architectureConfiguration": {"defaultArchitecture": "arm64"}}
    spec = defaulted({"spec": {"architecture": None}}, configuration)["spec"]
    assert spec["architecture"] == "arm64"
    assert spec["domain"]["machine"] == {"type": "virt"}


@pytest.mark.parametrize(
    ("resources", "sockets"),
    [
        ({"limits": {"cpu": "3"}, "requests": {"cpu": "1"}}, 3),
        ({"requests": {"cpu": "1500m"}}, 2),
        ({"requests": {"cpu": "0"}}, 1),
    ],
)
def test_sockets_follow_from_resources(resources: dict[str, Any], sockets: int) -> None:
    assert domain_of({"resources": resources})["cpu"]["sockets"] == sockets


def test_a_cpu_limit_is_also_the_request() -> None:
    resources = domain_of({"resources": {"limits": {"cpu": "2"}}})["resources"]
    assert resources["requests"] == {"cpu": "2"}


def test_a_guest_with_cpus_of_its_own_gets_no_request_of_the_clusters() -> None:
    domain = domain_of({"cpu": {"dedicatedCpuPlacement": True}}, {"cpuRequest": "200m"})
    assert "resources" not in domain


@pytest.mark.parametrize(
    ("domain", "guest"),
    [
        ({"memory": None, "resources": {"requests": {"memory": "64M"}}}, "64M"),
        ({"memory": None, "resources": {"limits": {"memory": "1Gi"}}}, "1Gi"),
        ({"memory": {"guest": None, "hugepages": {"pageSize": "2Mi"}}}, "2Mi"),
        ({"memory": {"guest": "1Gi"}, "resources": {"requests": {"memory": "2Gi"}}}, "1Gi"),
    ],
)
def test_guest_memory_follows_from_what_is_there(domain: dict[str, Any], guest: str) -> None:
    assert domain_of(domain)["memory"]["guest"] == guest


def test_without_any_memory_nothing_is_made_up() -> None:
    instance = defaulted({"spec": {"domain": {"memory": None}}})
    assert instance["spec"]["domain"]["memory"] == {}
    assert "memory" not in instance["status"]


def test_growth_ends_at_512_vcpus() -> None:
    cpu = domain_of({"cpu": {"sockets": 20, "cores": 8}})["cpu"]
    assert cpu["maxSockets"] == 512 // 8
    assert domain_of({"cpu": {"sockets": 100, "cores": 8}})["cpu"]["maxSockets"] == 100


def test_a_cluster_that_stages_changes_leaves_no_room() -> None:
    domain = domain_of({"memory": {"guest": "1Gi"}}, {"vmRolloutStrategy": "Stage"})
    assert "maxSockets" not in domain["cpu"]
    assert "maxGuest" not in domain["memory"]


def test_memory_may_grow_fourfold() -> None:
    assert domain_of({"memory": {"guest": "1Gi"}})["memory"]["maxGuest"] == "4Gi"


@pytest.mark.parametrize(
    ("domain", "guest", "most", "sentence"),
    [
        ({"cpu": {"realtime": {}}}, "1Gi", "4Gi", "is not compatible with realtime VMs"),
        (
            {"cpu": {"numa": {"guestMappingPassthrough": {}}}},
            "1Gi",
            "4Gi",
            "is not compatible with guest mapping passthrough",
        ),
        ({"launchSecurity": {"sev": {}}}, "1Gi", "4Gi", "is not compatible with encrypted VMs"),
        ({}, "4Gi", "1Gi", "Guest memory is greater than the configured maxGuest memory"),
        ({}, "1025Mi", "4Gi", "Guest memory must be 2Mi aligned"),
        ({}, "2Gi", "4097Mi", "MaxGuest must be 2Mi aligned"),
        (
            {"memory": {"hugepages": {"pageSize": "1Gi"}}},
            "1026Mi",
            "4Gi",
            "Guest memory must be 1Gi aligned",
        ),
        ({}, "512Mi", "2Gi", "at least 1Gi of guest memory"),
    ],
)
def test_memory_that_cannot_grow_says_why(
    domain: dict[str, Any], guest: str, most: str, sentence: str
) -> None:
    spec = a_vmi({"spec": {"domain": domain}}).spec
    why = why_memory_cannot_grow(spec, Quantity.parse(guest), Quantity.parse(most), AMD64)
    assert why is not None
    assert sentence in why


def test_memory_of_other_architectures_does_not_grow() -> None:
    spec = a_vmi({}).spec
    why = why_memory_cannot_grow(spec, Quantity.parse("1Gi"), Quantity.parse("4Gi"), ARM64)
    assert why == "Memory hotplug is only available for x86_64 VMs"


def test_every_volume_gets_a_disk_and_every_disk_a_bus() -> None:
    spec = defaulted(EVERYTHING)["spec"]
    assert spec["domain"]["devices"]["disks"] == [
        {"name": "drive", "cdrom": {"bus": "sata", "readonly": True, "tray": "closed"}},
        {"name": "lun", "lun": {"bus": "sata"}},
        {"name": "more", "disk": {"bus": "sata"}},
    ]
    assert spec["volumes"][0]["containerDisk"]["imagePullPolicy"] == "Always"


def test_a_volume_that_is_shared_as_a_folder_gets_no_disk() -> None:
    devices = {"filesystems": [{"name": "share", "virtiofs": {}}]}
    volumes = [{"name": "share", "configMap": {"name": "x"}}]
    assert "disks" not in domain_of({"devices": devices}, volumes=volumes)["devices"]


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("kubevirt/cirros", "Always"),
        ("kubevirt/cirros:latest", "Always"),
        ("kubevirt/cirros:v1", "IfNotPresent"),
        ("kubevirt/cirros@sha256:abc", "IfNotPresent"),
    ],
)
def test_an_image_without_version_is_looked_up_each_time(image: str, policy: str) -> None:
    assert pull_policy(image) == policy


def test_the_pod_network_comes_by_itself() -> None:
    spec = defaulted({"spec": {"domain": {"devices": {"autoattachPodInterface": None}}}})["spec"]
    assert spec["networks"] == [{"name": "default", "pod": {}}]
    assert spec["domain"]["devices"]["interfaces"] == [{"name": "default", "bridge": {}}]


def test_the_cluster_chooses_the_binding() -> None:
    devices = {"autoattachPodInterface": True}
    configuration = {"network": {"defaultNetworkInterface": "masquerade"}}
    found = domain_of({"devices": devices}, configuration)["devices"]["interfaces"]
    assert found == [{"name": "default", "masquerade": {}}]


@pytest.mark.parametrize(
    ("network", "sentence"),
    [
        (
            {"permitBridgeInterfaceOnPodNetwork": False},
            "Bridge on pod network configuration is not",
        ),
        ({"defaultNetworkInterface": "slirp"}, "Slirp interface support has been discontinued"),
        ({"defaultNetworkInterface": "carrier pigeon"}, "use bridge or masquerade"),
    ],
)
def test_a_binding_that_the_cluster_cannot_have_is_refused(
    network: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError, match=sentence):
        domain_of({"devices": {"autoattachPodInterface": True}}, {"network": network})


def test_a_tablet_comes_only_when_asked_for() -> None:
    devices = domain_of({"devices": {"autoattachInputDevice": True}})["devices"]
    assert devices["inputs"] == [{"name": "default-0", "type": "tablet", "bus": "usb"}]
    assert "inputs" not in domain_of({})["devices"]


def test_inputs_are_usb_tablets() -> None:
    devices = domain_of({"devices": {"inputs": [{"name": "a", "type": ""}]}})["devices"]
    assert devices["inputs"] == [{"name": "a", "type": "tablet", "bus": "usb"}]


@pytest.mark.parametrize(
    ("architecture", "watchdog"),
    [
        ("amd64", {"name": "dog", "i6300esb": {"action": "reset"}}),
        ("s390x", {"name": "dog", "diag288": {"action": "reset"}}),
        ("arm64", {"name": "dog"}),
    ],
)
def test_a_watchdog_resets(architecture: str, watchdog: dict[str, Any]) -> None:
    devices = {"watchdog": {"name": "dog"}}
    found = domain_of({"devices": devices}, architecture=architecture)["devices"]
    assert found["watchdog"] == watchdog


def test_secure_boot_brings_system_management_mode() -> None:
    efi: dict[str, Any] = {"firmware": {"bootloader": {"efi": {}}}}
    assert domain_of(efi)["features"]["smm"] == {"enabled": True}
    plain = {"firmware": {"bootloader": {"efi": {"secureBoot": False}}}}
    assert "smm" not in domain_of(plain)["features"]
    encrypted = {**efi, "launchSecurity": {"snp": {}}}
    assert "smm" not in domain_of(encrypted)["features"]
    refused = {**efi, "features": {"smm": {"enabled": False}}}
    assert domain_of(refused)["features"]["smm"] == {"enabled": False}


def test_enlightenments_bring_what_they_need() -> None:
    hyperv = {"synictimer": {"direct": {}}, "evmcs": {}, "ipi": {"enabled": False}}
    domain = domain_of({"features": {"hyperv": hyperv}})
    on = {"enabled": True}
    assert domain["features"]["hyperv"] == {
        "evmcs": on,
        "ipi": {"enabled": False},
        "synic": on,
        "synictimer": {"enabled": True, "direct": on},
        "vapic": on,
        "vpindex": on,
    }
    assert domain["cpu"]["features"] == [{"name": "vmx", "policy": "require"}]


def test_a_need_that_was_refused_stays_refused() -> None:
    hyperv = {"ipi": {}, "vpindex": {"enabled": False}}
    found = domain_of({"features": {"hyperv": hyperv}})["features"]["hyperv"]
    assert found["vpindex"] == {"enabled": False}


def test_evmcs_insists_on_vmx() -> None:
    cpu = {"features": [{"name": "vmx", "policy": "disable"}, {"name": "aes"}]}
    domain = domain_of({"cpu": cpu, "features": {"hyperv": {"evmcs": {}}}})
    assert domain["cpu"]["features"] == [{"name": "vmx", "policy": "require"}, {"name": "aes"}]


def test_spinlocks_have_a_number_of_tries() -> None:
    found = domain_of({"features": {"hyperv": {"spinlocks": {}}}})["features"]["hyperv"]
    assert found["spinlocks"] == {"enabled": True, "spinlocks": 4096}
    off = {"spinlocks": {"enabled": False}}
    assert domain_of({"features": {"hyperv": off}})["features"]["hyperv"] == off


def test_timers_are_present_unless_told() -> None:
    timer = {"hpet": {}, "pit": {"present": False}}
    clock = domain_of({"clock": {"timer": timer}})["clock"]
    assert clock == {"timer": {"hpet": {"present": True}, "pit": {"present": False}}}
    assert domain_of({"clock": {"utc": {}}})["clock"] == {"utc": {}}


def test_arm_boots_by_efi_without_secure_boot() -> None:
    spec = defaulted({"spec": {"architecture": "arm64"}}, {"cpuModel": "Nehalem"})["spec"]
    assert spec["domain"]["firmware"]["bootloader"] == {"efi": {"secureBoot": False}}
    assert spec["domain"]["cpu"]["model"] == "host-passthrough"
    assert "maxSockets" not in spec["domain"]["cpu"]


def test_arm_keeps_the_firmware_that_was_chosen() -> None:
    firmware = {"bootloader": {"efi": {"secureBoot": True}}}
    found = domain_of({"firmware": firmware}, architecture="arm64")["firmware"]["bootloader"]
    assert found == {"efi": {"secureBoot": True}}


def test_ibm_z_has_no_acpi() -> None:
    features = domain_of({}, architecture="s390x")["features"]
    assert features == {"acpi": {"enabled": False}}
    wanted = {"features": {"acpi": {"enabled": True}}}
    assert domain_of(wanted, architecture="s390x")["features"] == {"acpi": {"enabled": True}}


def test_a_firmware_uuid_is_stable_and_can_be_given() -> None:
    vmi = a_vmi({"spec": {"domain": {"firmware": None}}})
    given = with_defaults(vmi, KubeVirtConfiguration(), firmware_uuid="abc")
    assert uuid_of(given) == "abc"
    once, twice = (with_defaults(vmi, KubeVirtConfiguration()) for _ in range(2))
    assert uuid_of(once) == uuid_of(twice)
    other = a_vmi({"metadata": {"uid": "another"}, "spec": {"domain": {"firmware": None}}})
    assert uuid_of(with_defaults(other, KubeVirtConfiguration())) != uuid_of(once)


def uuid_of(vmi: VirtualMachineInstance) -> str | None:
    return vmi.spec.domain.firmware.uuid if vmi.spec.domain.firmware else None
