"""All other refusals of an instance's spec, with KubeVirt's field and words."""

import pytest
from tests.unit.virt.validate.judged import said, written
from tests.unit.virt.validate.spec_parts import DISKS, DNS_LABEL, IMAGE, Case, disks, domain

OTHER: dict[str, Case] = {
    "no probe": (
        {"readinessProbe": {}},
        "spec.readinessProbe",
        "spec.readinessProbe must have exactly one probe type set",
    ),
    "a probe over no network": (
        {"livenessProbe": {"httpGet": {"port": 80}}},
        "spec.livenessProbe.httpGet",
        "spec.livenessProbe.httpGet is only allowed if the Pod Network is attached",
    ),
    "another probe over no network": (
        {"readinessProbe": {"tcpSocket": {"port": 80}}},
        "spec.readinessProbe.tcpSocket",
        "spec.readinessProbe.tcpSocket is only allowed if the Pod Network is attached",
    ),
    "an eviction": (
        {"evictionStrategy": "Never"},
        "spec.evictionStrategy",
        "spec.evictionStrategy is set with an unrecognized option: Never",
    ),
    "a start": (
        {"startStrategy": "Slow"},
        "spec.startStrategy",
        "spec.startStrategy is set with an unrecognized option: Slow",
    ),
    "a pause with a probe": (
        {"startStrategy": "Paused", "livenessProbe": {"guestAgentPing": {}}},
        "spec.startStrategy",
        (
            "either spec.startStrategy or spec.livenessProbe should be provided.Pausing VMI with "
            "LivenessProbe is not supported"
        ),
    ),
    "an input's bus": (
        domain(devices={"inputs": [{"name": "a", "type": "tablet", "bus": "ps2"}]}),
        "spec.domain.devices.inputs[0].bus",
        "Input device can have only virtio or usb bus.",
    ),
    "an input's type": (
        domain(devices={"inputs": [{"name": "a", "type": "mouse"}]}),
        "spec.domain.devices.inputs[0].type",
        "Input device can have only tablet type.",
    ),
    "a sound": (
        domain(devices={"sound": {"name": "a", "model": "sb16"}}),
        "spec.domain.devices.sound",
        "Sound device type is not supported. Options: 'ich9' or 'ac97'",
    ),
    "two firmwares": (
        domain(firmware={"bootloader": {"efi": {}, "bios": {}}}),
        "spec.domain.firmware.bootloader.efi",
        (
            "spec.domain.firmware.bootloader.efi has both EFI and BIOS configured, but they are mutually "
            "exclusive."
        ),
    ),
    "secure boot without SMM": (
        domain(firmware={"bootloader": {"efi": {}}}, features={"smm": {"enabled": False}}),
        "spec.domain.firmware.bootloader.efi",
        (
            "spec.domain.firmware.bootloader.efi has EFI SecureBoot enabled. SecureBoot requires SMM, "
            "which is currently disabled."
        ),
    ),
    "arguments without kernel": (
        domain(firmware={"kernelBoot": {"kernelArgs": "quiet"}}),
        "spec.domain.firmware.kernelBoot",
        "kernel arguments cannot be provided without an external kernel",
    ),
    "host devices": (
        domain(devices={"hostDevices": [{"name": "a", "deviceName": "b"}]}),
        "spec.domain.devices.hostDevices",
        "Host Devices feature gate is not enabled in kubevirt-config",
    ),
    "a host name": (
        {"hostname": "a.b"},
        "spec.hostname",
        f"spec.hostname does not conform to the kubernetes DNS_LABEL rules : {DNS_LABEL}",
    ),
    "a long subdomain": (
        {"subdomain": "a" * 64},
        "spec.subdomain",
        (
            "spec.subdomain does not conform to the kubernetes DNS_LABEL rules : must be no more than 63 "
            "characters"
        ),
    ),
    "a resolver": (
        {"dnsPolicy": "None"},
        "spec.dnsConfig.nameservers",
        "must provide at least one DNS nameserver when `dnsPolicy` is None",
    ),
    "threads for I/O": (
        domain(ioThreadsPolicy="many"),
        "spec.domain.ioThreadsPolicy",
        "Invalid IOThreadsPolicy (many)",
    ),
    "two clocks": (
        domain(clock={"utc": {}, "timezone": "Europe/Vienna"}),
        "spec.domain.clock",
        "spec.domain.clock has both utc and timezone; keep one of them",
    ),
    "a tick policy": (
        domain(clock={"timer": {"rtc": {"tickPolicy": "merge"}}}),
        "spec.domain.clock.timer.rtc.tickPolicy",
        "spec.domain.clock.timer.rtc.tickPolicy 'merge' is not known; use one of delay, catchup",
    ),
    "keys from nowhere": (
        {
            "accessCredentials": [
                {
                    "sshPublicKey": {
                        "source": {},
                        "propagationMethod": {"qemuGuestAgent": {"users": ["a"]}},
                    }
                }
            ]
        },
        "spec.accessCredentials[0].sshPublicKey.source",
        "spec.accessCredentials[0].sshPublicKey must have exactly one source set",
    ),
    "keys on no disk": (
        {
            "accessCredentials": [
                {
                    "sshPublicKey": {
                        "source": {"secret": {"secretName": "a"}},
                        "propagationMethod": {"noCloud": {}},
                    }
                }
            ]
        },
        "spec.accessCredentials[0].sshPublicKey.propagationMethod",
        (
            "spec.accessCredentials[0].sshPublicKey requires a noCloud volume to exist when the noCloud "
            "propagationMethod is in use."
        ),
    ),
    "no credential": (
        {"accessCredentials": [{}]},
        "spec.accessCredentials[0]",
        "spec.accessCredentials[0] must have exactly one access credential type set",
    ),
    "a toleration": (
        {"tolerations": [{"operator": "Equal", "value": "a"}]},
        "spec.tolerations[0].operator",
        (
            'spec.tolerations[0].operator must be Exists when `key` is empty, which means "match all '
            'values and all keys"'
        ),
    ),
    "an affinity": (
        {
            "affinity": {
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": ""}]
                }
            }
        },
        "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey",
        (
            "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: "
            "can not be empty"
        ),
    ),
    "a watchdog": (
        domain(devices={"watchdog": {"name": "a", "i6300esb": {"action": "bark"}}}),
        "spec.domain.devices.watchdog.i6300esb.action",
        (
            "spec.domain.devices.watchdog.i6300esb.action 'bark' is not known; use reset, poweroff, "
            "shutdown"
        ),
    ),
    "too many disks": (
        disks(*({"name": f"d{n}"} for n in range(257)), volumes=[{"name": "d0", **IMAGE}]),
        DISKS,
        f"{DISKS} list exceeds the 256 element limit in length",
    ),
}

CASES = OTHER


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_refusal_names_the_field_and_the_reason(case: Case) -> None:
    patch, field, message = case
    assert (field, message) in said(written(patch))


def test_a_value_from_outside_is_shown_short_and_on_one_line() -> None:
    (cause,) = written({"evictionStrategy": "a\nb" + "x" * 1000})
    assert "\n" not in cause.message
    assert len(cause.message) < 200
