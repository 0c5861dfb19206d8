"""Refusals beyond KubeVirt's own: what QEMU, libvirt or the pod would stumble over, named by its field."""

from typing import Any

import pytest
from tests.unit.virt.validate.judged import gated, written
from tests.unit.virt.validate.spec_parts import card, cards, disks, domain, volume

KEYS = "accessCredentials[0].sshPublicKey"
SECRET = {"secret": {"secretName": "a"}}
NODE_TERMS = (
    "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
)


def firmware(**settings: Any) -> dict[str, Any]:
    return domain(firmware=settings)


def cpu(**settings: Any) -> dict[str, Any]:
    return domain(cpu=settings)


def device(**settings: Any) -> dict[str, Any]:
    return domain(devices=settings)


def keys(**way: Any) -> dict[str, Any]:
    return {"accessCredentials": [{"sshPublicKey": {"source": SECRET, "propagationMethod": way}}]}


def node_terms(*terms: dict[str, Any]) -> dict[str, Any]:
    demanded = {"nodeSelectorTerms": list(terms)}
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": demanded}}
    }


def expression(**settings: Any) -> dict[str, Any]:
    return node_terms({"matchExpressions": [{"key": "a", **settings}]})


def container(**settings: Any) -> dict[str, Any]:
    return firmware(kernelBoot={"container": {"image": "a:1", **settings}})


SPREAD = {"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"}
WEIGHED = {"weight": 0, "preference": {}}
CASES: list[tuple[dict[str, Any], str]] = [
    (domain(clock={"timezone": "../zone"}), "domain.clock.timezone"),
    (domain(clock={"timer": {"rtc": {"track": "sun"}}}), "domain.clock.timer.rtc.track"),
    (cpu(model="a b"), "domain.cpu.model"),
    (cpu(features=[{"name": "a b"}]), "domain.cpu.features[0].name"),
    (cpu(sockets=-1), "domain.cpu.sockets"),
    (cpu(maxSockets=-1), "domain.cpu.maxSockets"),
    (cpu(cores=100, maxSockets=100), "domain.cpu.maxSockets"),
    (cpu(numa={"guestMappingPassthrough": {}}), "domain.cpu.numa.guestMappingPassthrough"),
    (cpu(realtime={}), "domain.cpu.dedicatedCpuPlacement"),
    (cpu(realtime={}), "domain.cpu.numa.guestMappingPassthrough"),
    (cpu(realtime={"mask": "all"}), "domain.cpu.realtime.mask"),
    (keys(), f"{KEYS}.propagationMethod"),
    (keys(configDrive={}), f"{KEYS}.propagationMethod"),
    (keys(qemuGuestAgent={"users": []}), f"{KEYS}.propagationMethod.qemuGuestAgent"),
    (
        {"accessCredentials": [{"userPassword": {"source": {}, "propagationMethod": {}}}]},
        "accessCredentials[0].userPassword.propagationMethod",
    ),
    (device(sound={"name": ""}), "domain.devices.sound"),
    (device(sound={"name": "a b"}), "domain.devices.sound.name"),
    (device(video={"type": "cga"}), "domain.devices.video.type"),
    (device(video={}, autoattachGraphicsDevice=False), "domain.devices.video"),
    (device(watchdog={"name": "a", "diag288": {}}), "domain.devices.watchdog.diag288"),
    (
        {**device(watchdog={"name": "a", "i6300esb": {}}), "architecture": "arm64"},
        "domain.devices.watchdog",
    ),
    (device(autoattachVSOCK=True), "domain.devices.autoattachVSOCK"),
    (device(downwardMetrics={}), "domain.devices.downwardMetrics"),
    (device(panicDevices=[{"model": "loud"}]), "domain.devices.panicDevices[0].model"),
    (disks({"name": "A_"}), "domain.devices.disks[0].name"),
    (
        disks({"name": "a", "blockSize": {"custom": {"logical": 1, "physical": 512}}}),
        "domain.devices.disks[0].blockSize.custom.logical",
    ),
    (
        disks(
            {
                "name": "a",
                "blockSize": {
                    "custom": {"logical": 512, "physical": 512, "discardGranularity": 700}
                },
            }
        ),
        "domain.devices.disks[0].blockSize.custom.discardGranularity",
    ),
    (
        domain(features={"hyperv": {}, "hypervPassthrough": {"enabled": True}}),
        "domain.features.hyperv",
    ),
    (
        domain(features={"hyperv": {"vendorid": {"vendorid": "x" * 13}}}),
        "domain.features.hyperv.vendorid.vendorid",
    ),
    (
        domain(features={"hyperv": {"spinlocks": {"spinlocks": 1}}}),
        "domain.features.hyperv.spinlocks.spinlocks",
    ),
    (domain(rebootPolicy="Never"), "domain.rebootPolicy"),
    (
        domain(ioThreadsPolicy="supplementalPool"),
        "domain.ioThreads.supplementalPoolThreadCount",
    ),
    (
        domain(ioThreads={"supplementalPoolThreadCount": 2}),
        "domain.ioThreads.supplementalPoolThreadCount",
    ),
    (firmware(uuid="1"), "domain.firmware.uuid"),
    (firmware(serial="1" * 257), "domain.firmware.serial"),
    (firmware(serial="a b"), "domain.firmware.serial"),
    (firmware(kernelBoot={"kernelArgs": "x" * 4097}), "domain.firmware.kernelBoot.kernelArgs"),
    (firmware(kernelBoot={"kernelArgs": "a\nb"}), "domain.firmware.kernelBoot.kernelArgs"),
    (container(image="", kernelPath="/a"), "domain.firmware.kernelBoot.container.image"),
    (container(), "domain.firmware.kernelBoot.container"),
    (container(kernelPath="a"), "domain.firmware.kernelBoot.container.kernelPath"),
    (
        firmware(kernelBoot={"kernelArgs": "a", "container": {"image": "a", "initrdPath": "/i"}}),
        "domain.firmware.kernelBoot",
    ),
    (firmware(acpi={}), "domain.firmware.acpi"),
    (firmware(acpi={"slicNameRef": "a"}), "domain.firmware.acpi.slicNameRef"),
    (
        {
            **firmware(acpi={"msdmNameRef": "a"}),
            "volumes": [{"name": "a", "emptyDisk": {"capacity": 1}}],
        },
        "domain.firmware.acpi.msdmNameRef",
    ),
    ({"priorityClassName": "A"}, "priorityClassName"),
    ({"dnsPolicy": "Mine"}, "dnsPolicy"),
    ({"dnsConfig": {"nameservers": ["1.1.1.1"] * 4}}, "dnsConfig"),
    ({"dnsConfig": {"nameservers": ["one"]}}, "dnsConfig.nameservers[0]"),
    ({"dnsConfig": {"searches": ["a"] * 33}}, "dnsConfig.searches"),
    ({"dnsConfig": {"searches": ["A b"]}}, "dnsConfig.searches[0]"),
    ({"dnsConfig": {"options": [{}]}}, "dnsConfig.options[0]"),
    ({"terminationGracePeriodSeconds": -1}, "terminationGracePeriodSeconds"),
    (card(state="asleep"), "domain.devices.interfaces[0].state"),
    (card(pciAddress="1"), "domain.devices.interfaces[0].pciAddress"),
    (card(macAddress="one"), "domain.devices.interfaces[0].macAddress"),
    (card(acpiIndex=-1), "domain.devices.interfaces[0].acpiIndex"),
    (card(binding={"name": ""}), "domain.devices.interfaces[0].binding.name"),
    (card(ports=[{"port": 1, "name": "A"}]), "domain.devices.interfaces[0].ports[0].name"),
    (
        cards(
            {"name": "a", "bridge": {}, "macAddress": "02:00:5e:10:00:01", "acpiIndex": 1},
            {"name": "b", "bridge": {}, "macAddress": "02-00-5E-10-00-01", "acpiIndex": 1},
        ),
        "domain.devices.interfaces[1].macAddress",
    ),
    (
        card(portRanges=[{"start": 9, "end": 1, "protocol": "TCP"}], ports=[{"port": 1}]),
        "domain.devices.interfaces[0].portRanges",
    ),
    (domain(machine={"type": "q35 -x"}), "domain.machine.type"),
    (domain(memory={"guest": "-1"}), "domain.memory.guest"),
    ({"tolerations": [{"key": "a", "operator": "Near"}]}, "tolerations[0].operator"),
    ({"tolerations": [{"key": "a", "effect": "Now"}]}, "tolerations[0].effect"),
    (
        {"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]},
        "tolerations[0].operator",
    ),
    ({"tolerations": [{"key": "a", "tolerationSeconds": 1}]}, "tolerations[0].effect"),
    (
        {"topologySpreadConstraints": [{**SPREAD, "maxSkew": 0}]},
        "topologySpreadConstraints[0].maxSkew",
    ),
    (
        {"topologySpreadConstraints": [{**SPREAD, "topologyKey": ""}]},
        "topologySpreadConstraints[0].topologyKey",
    ),
    (
        {"topologySpreadConstraints": [{**SPREAD, "whenUnsatisfiable": "Cry"}]},
        "topologySpreadConstraints[0].whenUnsatisfiable",
    ),
    (node_terms(), NODE_TERMS),
    (expression(operator="Near"), f"{NODE_TERMS}[0].matchExpressions[0].operator"),
    (expression(operator="In"), f"{NODE_TERMS}[0].matchExpressions[0].values"),
    (
        expression(operator="Exists", values=["a"]),
        f"{NODE_TERMS}[0].matchExpressions[0].values",
    ),
    (
        {
            "affinity": {
                "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [WEIGHED]}
            }
        },
        "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight",
    ),
    ({"readinessProbe": {"exec": {}}}, "readinessProbe.exec.command"),
    ({"readinessProbe": {"tcpSocket": {"port": 0}}}, "readinessProbe.tcpSocket.port"),
    (
        {"readinessProbe": {"guestAgentPing": {}, "periodSeconds": -1}},
        "readinessProbe.periodSeconds",
    ),
    (
        {"livenessProbe": {"guestAgentPing": {}, "successThreshold": 2}},
        "livenessProbe.successThreshold",
    ),
    (volume(persistentVolumeClaim={"claimName": ""}), "volumes[0].persistentVolumeClaim.claimName"),
    (volume(configMap={}), "volumes[0].configMap.name"),
    (volume(secret={}), "volumes[0].secret.secretName"),
    (volume(serviceAccount={}), "volumes[0].serviceAccount.serviceAccountName"),
    (volume(ephemeral={}), "volumes[0].ephemeral.persistentVolumeClaim.claimName"),
    (volume(containerDisk={"image": ""}), "volumes[0].containerDisk.image"),
    (volume(containerDisk={"image": "a", "path": "b"}), "volumes[0].containerDisk"),
    (volume(emptyDisk={"capacity": "0"}), "volumes[0].emptyDisk.capacity"),
    (volume(hostDisk={"path": "", "type": "Disk"}), "volumes[0].hostDisk.path"),
    (
        volume(hostDisk={"path": "/a", "type": "Disk", "capacity": "1Gi"}),
        "volumes[0].hostDisk.capacity",
    ),
]


@pytest.mark.parametrize(("spec", "field"), CASES)
def test_a_refusal_names_the_field(spec: dict[str, Any], field: str) -> None:
    found = {cause.field: cause.message for cause in written(spec)}
    assert f"spec.{field}" in found
    assert found[f"spec.{field}"]


def test_ranges_of_ports_have_a_gate() -> None:
    ranges = card(portRanges=[{"start": 1, "end": 9, "protocol": "TCP"}])
    assert written(ranges)
    assert written(ranges, gated("PortRangesSpec")) == ()
