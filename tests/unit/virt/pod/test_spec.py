"""Everything else of a pod: command, privileges, nodes, probes, ports, console, refusals, settings."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from tests.unit.virt.pod.cases import UID, a_pod, compute, flag, spec_of, words

from kubevirt.api.configuration import DeveloperConfiguration, KubeVirtConfiguration
from kubevirt.api.core.container import SeccompProfile
from kubevirt.api.domain import ResourceRequirementsWithoutClaims
from kubevirt.components.launcher import flags
from kubevirt.virt.errors import SpecError, UnsupportedError
from kubevirt.virt.pod.config import TUN, VHOST_VSOCK, PodConfig
from kubevirt.virt.pod.refusals import PLACED
from kubevirt.virt.validate.missing import FEATURES, Feature


def test_the_grace_of_a_guest_is_followed_by_the_launchers_and_the_pods() -> None:
    pod = a_pod({"terminationGracePeriodSeconds": 0})
    assert flag(pod, "--grace-period-seconds") == "15"
    assert spec_of(pod).termination_grace_period_seconds == 30
    assert flag(a_pod(), "--grace-period-seconds") == "45"


@pytest.mark.parametrize("seconds", [-1, 2**40])
def test_a_grace_that_is_none_is_refused(seconds: int) -> None:
    with pytest.raises(SpecError, match="terminationGracePeriodSeconds"):
        a_pod({"terminationGracePeriodSeconds": seconds})


def test_settings_reach_the_launcher_by_flags_that_it_understands() -> None:
    pod = a_pod(
        emulation=False, claim_tolerance_percent=5, verbosity=7, ovmf_path="/usr/share/edk2/ovmf"
    )
    settings, _ = flags.settings(words(pod)[1:])
    assert settings.kvm
    assert settings.claim_tolerance_percent == 5
    assert settings.verbosity == 7
    assert flag(pod, "--ovmf-path") == "/usr/share/edk2/ovmf"


def test_nothing_in_a_pod_is_privileged() -> None:
    pod = a_pod({"volumes": [{"name": "root", "containerDisk": {"image": "a:1"}}]})
    spec = spec_of(pod)
    context = spec.security_context
    assert context
    assert (context.run_as_user, context.run_as_group, context.fs_group) == (107, 107, 107)
    assert context.run_as_non_root
    assert context.seccomp_profile == SeccompProfile(type="RuntimeDefault")
    for container in (*spec.init_containers, *spec.containers):
        own = container.security_context
        assert own
        assert own.allow_privilege_escalation is False
        assert own.capabilities
        assert (own.capabilities.add, own.capabilities.drop) == ((), ("ALL",))
    assert (spec.host_network, spec.host_pid, spec.host_ipc) == (None, None, None)


def test_a_launcher_has_no_token_unless_its_guest_is_to_have_one() -> None:
    assert spec_of(a_pod()).automount_service_account_token is False
    spec = spec_of(a_pod({"serviceAccountName": "robot"}))
    assert (spec.service_account_name, spec.automount_service_account_token) == ("robot", False)
    volume = {"name": "token", "serviceAccount": {"serviceAccountName": "guest"}}
    spec = spec_of(a_pod({"volumes": [volume]}))
    assert (spec.service_account_name, spec.automount_service_account_token) == ("guest", True)


def test_wishes_about_nodes_are_passed_on() -> None:
    wishes: dict[str, Any] = {
        "priorityClassName": "high",
        "schedulerName": "mine",
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
        ],
        "dnsPolicy": "None",
        "dnsConfig": {"nameservers": ["10.0.0.1"]},
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "h"}]
            }
        },
    }
    ours = msgspec.to_builtins(spec_of(a_pod(wishes)), str_keys=True)
    assert {key: msgspec.json.decode(msgspec.json.encode(ours[key])) for key in wishes} == wishes


def test_a_node_must_have_what_the_guest_needs() -> None:
    pod = a_pod(
        {"nodeSelector": {"disk": "fast", "kubevirt.io/schedulable": "false"}},
        node_selector={"zone": "a"},
    )
    assert spec_of(pod).node_selector == {
        "disk": "fast",
        "zone": "a",
        "kubernetes.io/arch": "amd64",
        "kubevirt.io/schedulable": "true",
    }


CPU = {
    "model": "Skylake-Server",
    "features": [
        {"name": "pcid"},
        {"name": "vmx", "policy": "require"},
        {"name": "avx", "policy": "optional"},
        {"name": "mpx", "policy": "forbid"},
    ],
}


def test_a_named_processor_restricts_the_nodes_where_it_is_real() -> None:
    spec = spec_of(a_pod({"domain": {"cpu": CPU}}, emulation=False))
    found = {key for key in spec.node_selector if ".node.kubevirt.io/" in key}
    assert found == {
        "cpu-model.node.kubevirt.io/Skylake-Server",
        "cpu-feature.node.kubevirt.io/pcid",
        "cpu-feature.node.kubevirt.io/vmx",
    }
    emulated = spec_of(a_pod({"domain": {"cpu": CPU}}))
    assert not any(".node.kubevirt.io/" in key for key in emulated.node_selector)
    assert emulated.affinity is None


def test_a_forbidden_feature_keeps_away_from_nodes_whichever_alternative_is_taken() -> None:
    terms = [{"matchExpressions": [{"key": "zone", "operator": "Exists"}]}, {"matchFields": []}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    pod = a_pod({"domain": {"cpu": CPU}, "affinity": {"nodeAffinity": required}}, emulation=False)
    affinity = msgspec.json.decode(msgspec.json.encode(spec_of(pod).affinity))
    forbidden = {"key": "cpu-feature.node.kubevirt.io/mpx", "operator": "NotIn", "values": ["true"]}
    assert affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] == {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": "zone", "operator": "Exists"}, forbidden]},
            {},
        ]
    }
    alone = a_pod({"domain": {"cpu": CPU}}, emulation=False)
    assert b"mpx" in msgspec.json.encode(spec_of(alone).affinity)


def test_dedicated_and_real_time_cpus_need_nodes_that_have_them() -> None:
    pod = a_pod({"domain": {"cpu": {"dedicatedCpuPlacement": True, "realtime": {}}}})
    selector = spec_of(pod).node_selector
    assert selector["kubevirt.io/cpumanager"] == selector["kubevirt.io/realtime"] == "true"


# Probes.


def test_probes_by_the_network_are_passed_on_and_count_from_the_guests_start() -> None:
    http = {"httpGet": {"path": "/ok", "port": 80}, "periodSeconds": 3, "failureThreshold": 5}
    tcp = {
        "tcpSocket": {"port": "ssh"},
        "initialDelaySeconds": 9,
        "timeoutSeconds": 2,
        "successThreshold": 1,
    }
    container = compute(a_pod({"readinessProbe": http, "livenessProbe": tcp}))
    ready = msgspec.json.decode(msgspec.json.encode(container.readiness_probe))
    assert ready == {**http, "initialDelaySeconds": 10}
    live = msgspec.json.decode(msgspec.json.encode(container.liveness_probe))
    assert live == {**tcp, "initialDelaySeconds": 19}


def test_probes_by_the_guests_agent_are_asked_inside_the_pod() -> None:
    probes = {
        "livenessProbe": {"guestAgentPing": {}},
        "readinessProbe": {"exec": {"command": ["--help", "-c", "$(x)"]}, "timeoutSeconds": 7},
    }
    container = compute(a_pod(probes))
    start = ("virt-probe", "--domainName", "default_testvm", "--timeoutSeconds")
    assert container.liveness_probe
    assert container.liveness_probe.exec
    assert container.liveness_probe.exec.command == (*start, "1", "--guestAgentPing")
    assert container.readiness_probe
    assert container.readiness_probe.exec
    expected = (*start, "7", "--command=--help", "--", "-c", "$(x)")
    assert container.readiness_probe.exec.command == expected


def test_a_guest_has_all_of_its_time_to_answer() -> None:
    """The pod's time ran from the start of virt-probe, which took some of what the guest was to have."""
    most = 2**31 - 1
    probes = {
        "livenessProbe": {"guestAgentPing": {}, "initialDelaySeconds": 30},
        "readinessProbe": {
            "exec": {"command": ["true"]},
            "timeoutSeconds": most,
            "initialDelaySeconds": most,
        },
    }
    container = compute(a_pod(probes))
    times = [
        (each.initial_delay_seconds, each.timeout_seconds)
        for each in (container.liveness_probe, container.readiness_probe)
        if each
    ]
    assert times == [(40, 2), (most, most)]


@pytest.mark.parametrize(
    "probe",
    [
        {},
        {"guestAgentPing": {}, "tcpSocket": {"port": 1}},
        {"exec": {}},
        {"exec": {"command": [""]}},
    ],
    ids=str,
)
def test_a_probe_without_its_one_method_is_refused(probe: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        a_pod({"livenessProbe": probe})


# Network.


def network(interface: dict[str, Any], source: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "domain": {"devices": {"interfaces": [{"name": "default", **interface}]}},
        "networks": [{"name": "default", **(source or {"pod": {}})}],
    }


def test_a_proxy_is_told_of_a_guest_behind_masquerade() -> None:
    annotation = "traffic.sidecar.istio.io/kubevirtInterfaces"
    assert a_pod(network({"masquerade": {}})).metadata.annotations[annotation] == "k6t-eth0"
    assert annotation not in a_pod(network({"bridge": {}})).metadata.annotations


def test_ports_of_a_guest_are_the_pods_each_once() -> None:
    ports = [{"name": "web", "port": 80}, {"port": 53, "protocol": "UDP"}, {"port": 80}]
    container = compute(a_pod(network({"masquerade": {}, "ports": ports})))
    found = [(each.name, each.container_port, each.protocol) for each in container.ports]
    assert found == [("web", 80, "TCP"), (None, 53, "UDP")]


@pytest.mark.parametrize(
    "spec",
    [
        network({"sriov": {}}),
        network({"passtBinding": {}}),
        network({"binding": {"name": "mine"}}),
        network({}),
        network({"bridge": {}}, {"multus": {"networkName": "lan"}}),
    ],
    ids=str,
)
def test_a_network_that_no_pod_has_yet_is_refused_with_a_sentence(spec: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedError) as refusal:
        a_pod(spec)
    assert "; remove" in str(refusal.value) or "; use" in str(refusal.value)


def devices(**wanted: Any) -> dict[str, Any]:
    return {"domain": {"devices": wanted}}


USED: Mapping[str, dict[str, Any]] = {
    "usbRedirection": devices(clientPassthrough={}),
    "downwardMetrics": devices(downwardMetrics={}),
    "vsock": devices(autoattachVSOCK=True),
    "memoryLock": {"domain": {"memory": {"reservedOverhead": {"memLock": "Required"}}}},
    "virtiofs": devices(filesystems=[{"name": "a", "virtiofs": {}}]),
    "gpus": devices(gpus=[{"name": "a", "deviceName": "b/c"}]),
    "hostDevices": devices(hostDevices=[{"name": "a", "deviceName": "b/c"}]),
    "resourceClaims": {"resourceClaims": [{"name": "gpu", "resourceClaimName": "a"}]},
    "utilityVolumes": {"utilityVolumes": [{"name": "a", "claimName": "b"}]},
    "launchSecurity": {"domain": {"launchSecurity": {"sev": {}}}},
    "persistentTpm": devices(tpm={"persistent": True}),
    "persistentEfi": {"domain": {"firmware": {"bootloader": {"efi": {"persistent": True}}}}},
}
"""A spec with each feature of the table."""


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: str(feature.name))
def test_a_pod_is_refused_in_the_words_of_admission_or_has_a_place_for_it(feature: Feature) -> None:
    """There were two tables of what is not built, whose sentences and entries differed."""
    spec = USED[feature.name]
    if feature.name in PLACED:
        a_pod(spec, devices=frozenset({VHOST_VSOCK}))
        return
    with pytest.raises(UnsupportedError) as refusal:
        a_pod(spec)
    assert str(refusal.value) == f"{feature.sentence} yet; remove spec.{feature.field}"


def test_hook_sidecars_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="hook sidecars are not built yet"):
        a_pod(metadata={"annotations": {"hooks.kubevirt.io/hookSidecars": "[]"}})


# The console's log.


def console(**devices: Any) -> dict[str, Any]:
    return {"domain": {"devices": devices}}


def test_a_console_is_logged_by_a_sidecar_if_the_instance_asks() -> None:
    (sidecar,) = spec_of(a_pod(console(logSerialConsole=True))).init_containers
    assert (sidecar.name, sidecar.restart_policy) == ("guest-console-log", "Always")
    assert sidecar.command[-1] == f"/var/run/kubevirt-private/{UID}/virt-serial0-log"
    assert sidecar.volume_mounts[0].read_only


@pytest.mark.parametrize(
    "devices",
    [{}, {"logSerialConsole": False}, {"logSerialConsole": True, "autoattachSerialConsole": False}],
    ids=str,
)
def test_else_there_is_no_sidecar(devices: dict[str, Any]) -> None:
    assert spec_of(a_pod(console(**devices))).init_containers == ()


def test_resources_of_the_consoles_log_are_a_setting() -> None:
    own = ResourceRequirementsWithoutClaims(requests={"cpu": "1m"}, limits={"memory": "80M"})
    pod = a_pod(console(logSerialConsole=True), support={"guest-console-log": own})
    resources = spec_of(pod).init_containers[0].resources
    assert resources
    assert resources.requests == {"cpu": "1m", "memory": "2M"}
    assert resources.limits == {"cpu": "15m", "memory": "80M"}


# Settings.


def test_a_pause_makes_the_pod_unready_unless_nobody_would_write_it_down() -> None:
    (gate,) = spec_of(a_pod()).readiness_gates
    assert gate.condition_type == "kubevirt.io/virtual-machine-unpaused"
    assert spec_of(a_pod(pause_gate=False)).readiness_gates == ()


def test_settings_come_from_the_kubevirt_object() -> None:
    configuration = msgspec.convert(
        {
            "imagePullPolicy": "Never",
            "additionalGuestMemoryOverheadRatio": "1.25",
            "defaultRuntimeClass": "kata",
            "selinuxLauncherType": "launcher_t",
            "architectureConfiguration": {"arm64": {"ovmfPath": "/arm"}},
            "ovmfPath": "/x86",
            "seccompConfiguration": {
                "virtualMachineInstanceProfile": {"customProfile": {"localhostProfile": "a.json"}}
            },
            "supportContainerResources": [{"type": "container-disk", "resources": {}}],
            "developerConfiguration": {
                "useEmulation": True,
                "cpuAllocationRatio": 4,
                "memoryOvercommit": 150,
                "pvcTolerateLessSpaceUpToPercent": 0,
                "nodeSelectors": {"a": "b"},
                "featureGates": ["HostDisk", "ImageVolume"],
                "disabledFeatureGates": ["ImageVolume"],
                "logVerbosity": {"virtLauncher": 0},
            },
        },
        KubeVirtConfiguration,
    )
    assert PodConfig.of(configuration, "launcher", devices=frozenset()) == PodConfig(
        launcher_image="launcher",
        pull_policy="Never",
        emulation=True,
        image_volumes=False,
        devices=frozenset(),
        cpu_allocation_ratio=4,
        memory_overcommit=150,
        overhead_ratio="1.25",
        claim_tolerance_percent=0,
        node_selector={"a": "b"},
        runtime_class="kata",
        ovmf_path="/x86",
        seccomp=SeccompProfile(type="Localhost", localhost_profile="a.json"),
        selinux_type="launcher_t",
        verbosity=0,
        host_disks=True,
        support={"container-disk": ResourceRequirementsWithoutClaims()},
    )
    assert PodConfig.of(configuration, "launcher", architecture="arm64").ovmf_path == "/arm"


def test_settings_that_say_nothing_are_the_defaults() -> None:
    assert PodConfig.of(KubeVirtConfiguration(), "launcher") == PodConfig(
        launcher_image="launcher", devices=frozenset({TUN}), image_volumes=True
    )


def test_whoever_opens_one_gate_takes_no_disk_from_guests() -> None:
    developer = DeveloperConfiguration(feature_gates=("HostDisk",))
    wanted = KubeVirtConfiguration(developer_configuration=developer)
    found = PodConfig.of(wanted, "launcher")
    assert (found.host_disks, found.image_volumes) == (True, True)
    closed = msgspec.structs.replace(developer, disabled_feature_gates=("ImageVolume",))
    wanted = KubeVirtConfiguration(developer_configuration=closed)
    assert not PodConfig.of(wanted, "launcher").image_volumes


def test_settings_of_the_pod_itself_are_in_it() -> None:
    pod = a_pod(runtime_class="kata", selinux_type="launcher_t", pull_policy="Never")
    spec = spec_of(pod)
    assert spec.runtime_class_name == "kata"
    assert spec.security_context
    assert spec.security_context.se_linux_options
    assert spec.security_context.se_linux_options.type == "launcher_t"
    assert compute(pod).image_pull_policy == "Never"
