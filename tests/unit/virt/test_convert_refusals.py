"""What cannot become a guest is refused in one sentence: the thing, the cause, the way out."""

from typing import Any

import msgspec
import pytest
from tests.unit.virt.domain_cases import a_vmi, facts_for

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.base.errors import UserError
from kubevirt.virt.convert.conversion import convert
from kubevirt.virt.convert.facts import Facts
from kubevirt.virt.defaults.instance import with_defaults

Patch = dict[str, Any]


def a_domain(**domain: Any) -> Patch:
    return {"spec": {"domain": domain}}


def some_devices(**devices: Any) -> Patch:
    return a_domain(devices=devices)


def a_disk(volume: Patch | None = None, **disk: Any) -> Patch:
    source = volume or {"persistentVolumeClaim": {"claimName": "claim"}}
    return {
        "spec": {
            "domain": {"devices": {"disks": [{"name": "root", **disk}]}},
            "volumes": [{"name": "root", **source}],
        }
    }


def a_card(**interface: Any) -> Patch:
    return {
        "spec": {
            "domain": {"devices": {"interfaces": [{"name": "default", **interface}]}},
            "networks": [{"name": "default", "pod": {}}],
        }
    }


PINNED = {"cores": 2, "maxSockets": 1, "dedicatedCpuPlacement": True}
NUMA = {**PINNED, "numa": {"guestMappingPassthrough": {}}}
NODES = [{"id": 0, "cpus": [{"id": 0}, {"id": 1}]}]

REFUSALS: dict[str, tuple[Patch, Patch, str]] = {
    "no memory": (a_domain(memory=None), {}, "no memory requested, at least one of"),
    "negative memory": (a_domain(memory={"guest": "-1Mi"}), {}, "which is no size"),
    "memory beyond the ceiling": (
        a_domain(memory={"guest": "2Gi", "maxGuest": "1Gi"}),
        {},
        "Guest memory is greater than the configured maxGuest memory",
    ),
    "hugepages where there are none": (
        a_domain(memory={"guest": "64Mi", "hugepages": {"pageSize": "2Mi"}}),
        {},
        "huge pages of '2Mi' are not available on this node",
    ),
    "hugepages of another size": (
        a_domain(memory={"guest": "1Gi", "hugepages": {"pageSize": "1Gi"}}),
        {"host": {"hugepage_sizes": [2097152]}},
        r"page sizes in bytes: 2097152\); reserve them",
    ),
    "hugepages without size": (
        a_domain(memory={"guest": "64Mi", "hugepages": {}}),
        {},
        "memory.hugepages lacks pageSize",
    ),
    "memory that is no multiple of a page": (
        a_domain(memory={"guest": "63Mi", "hugepages": {"pageSize": "2Mi"}}),
        {"host": {"hugepage_sizes": [2097152]}},
        "not a multiple of the huge page size",
    ),
    "another architecture": (
        {"spec": {"architecture": "vax"}},
        {},
        "unsupported architecture: 'vax'",
    ),
    "another machine": (
        a_domain(machine={"type": "pc-i440fx"}),
        {"host": {"machine_types": ["q35"]}},
        "machine type 'pc-i440fx' is not supported by this node's QEMU; use q35",
    ),
    "a machine with options": (a_domain(machine={"type": "q35,accel=kvm"}), {}, "machine type"),
    "another CPU model": (
        a_domain(cpu={"model": "Z80"}),
        {"host": {"cpu_models": ["Haswell"]}},
        "the CPU model 'Z80' is not offered by this node; use host-model",
    ),
    "a CPU feature's policy": (
        a_domain(cpu={"features": [{"name": "aes", "policy": "please"}]}),
        {},
        "the CPU feature 'aes' has the policy 'please'",
    ),
    "negative cores": (a_domain(cpu={"cores": -1}), {}, "must each be 1 or more"),
    "too many vCPUs": (a_domain(cpu={"sockets": 70, "cores": 70}), {}, "more vCPUs than the 4096"),
    "a number of sockets that overflows": (
        a_domain(cpu={"sockets": 2**31 - 1}),
        {},
        "more vCPUs than the 4096",
    ),
    "fewer sockets than there are": (
        a_domain(cpu={"sockets": 4, "maxSockets": 2}),
        {},
        "4 CPU sockets but cpu.maxSockets allows 2",
    ),
    "NUMA without CPUs of its own": (
        a_domain(cpu={"numa": {"guestMappingPassthrough": {}}}),
        {"host": {"numa_nodes": NODES}},
        "guestMappingPassthrough needs CPUs of its own",
    ),
    "NUMA without huge pages": (
        a_domain(cpu=NUMA),
        {"host": {"cpu_set": [0, 1], "numa_nodes": NODES}},
        "passing through a numa topology is restricted to VMIs with hugepages",
    ),
    "NUMA with less than a page each": (
        a_domain(cpu=NUMA, memory={"guest": "2Mi", "hugepages": {"pageSize": "2Mi"}}),
        {
            "host": {
                "hugepage_sizes": [2097152],
                "cpu_set": [0, 1],
                "numa_nodes": [{"id": 0, "cpus": [{"id": 0}]}, {"id": 1, "cpus": [{"id": 1}]}],
            }
        },
        "cannot be split in pages of 2097152 bytes over 2 NUMA nodes",
    ),
    "a clock of two minds": (
        a_domain(clock={"utc": {}, "timezone": "Europe/Vienna"}),
        {},
        "clock has both utc and timezone",
    ),
    "both firmwares": (
        a_domain(firmware={"bootloader": {"efi": {"secureBoot": False}, "bios": {}}}),
        {},
        "has both EFI and BIOS configured, but they are mutually exclusive",
    ),
    "secure boot without SMM": (
        a_domain(firmware={"bootloader": {"efi": {}}}, features={"smm": {"enabled": False}}),
        {},
        "SecureBoot requires SMM, which is currently disabled",
    ),
    "firmware that is not there": (
        a_domain(firmware={"bootloader": {"efi": {"secureBoot": False}}}),
        {"firmware": {"plain": None}},
        "this node has no EFI firmware without SecureBoot",
    ),
    "a UUID that is none": (
        a_domain(firmware={"uuid": "1234"}),
        {},
        "firmware.uuid '1234' is no UUID",
    ),
    "arguments without a kernel": (
        a_domain(firmware={"kernelBoot": {"kernelArgs": "quiet"}}),
        {},
        "kernel arguments cannot be provided without an external kernel",
    ),
    "a kernel image without kernel": (
        a_domain(firmware={"kernelBoot": {"container": {"image": "x"}}}),
        {},
        "names neither a kernel nor an initrd",
    ),
    "a kernel that climbs": (
        a_domain(firmware={"kernelBoot": {"container": {"image": "x", "kernelPath": "/.."}}}),
        {},
        "the kernel boot file '..' cannot be used as a name",
    ),
    "ACPI tables of nothing": (
        a_domain(firmware={"acpi": {}}),
        {},
        "No ACPI tables were set. Expecting at least one.",
    ),
    "an ACPI table without volume": (
        a_domain(firmware={"acpi": {"slicNameRef": "licence"}}),
        {},
        "Firmware's volume for slic was not found; add 'licence'",
    ),
    "an ACPI table from elsewhere": (
        {
            "spec": {
                "domain": {"firmware": {"acpi": {"msdmNameRef": "x"}}},
                "volumes": [{"name": "x", "configMap": {"name": "x"}}],
            }
        },
        {},
        "Firmware's volume type is unsupported for msdm; use a Secret",
    ),
    "encryption of an emulated guest": (
        a_domain(launchSecurity={"sev": {}}),
        {},
        "launchSecurity needs hardware that encrypts memory, and this guest is emulated",
    ),
    "encryption without EFI": (
        a_domain(launchSecurity={"sev": {}}),
        {"host": {"kvm": True}},
        "launchSecurity needs EFI",
    ),
    "two kinds of encryption": (
        a_domain(
            launchSecurity={"sev": {}, "snp": {}},
            firmware={"bootloader": {"efi": {"secureBoot": False}}},
        ),
        {"host": {"kvm": True}},
        "exactly one of sev, snp and tdx",
    ),
    "a reboot policy": (
        a_domain(rebootPolicy="Perhaps"),
        {},
        "rebootPolicy 'Perhaps' is not known; use Reboot or Terminate",
    ),
    "an I/O thread policy": (
        a_domain(ioThreadsPolicy="many"),
        {},
        r"Invalid IOThreadsPolicy \('many'\)",
    ),
    "a pool without size": (
        a_domain(ioThreadsPolicy="supplementalPool"),
        {},
        "needs ioThreads.supplementalPoolThreadCount, from 1 to 256",
    ),
    "a disk without volume": (
        some_devices(disks=[{"name": "root"}]),
        {},
        "no matching volume with name 'root' found; add it to volumes",
    ),
    "twins": (
        {
            "spec": {
                "domain": {"devices": {"disks": [{"name": "root"}, {"name": "root"}]}},
                "volumes": [{"name": "root", "emptyDisk": {"capacity": "1Gi"}}],
            }
        },
        {},
        "two disks are called 'root'; disks must not have the same Name.",
    ),
    "an unknown bus": (
        a_disk(disk={"bus": "floppy"}),
        {},
        "disk 'root' is set with an unrecognized bus 'floppy', must be one of: virtio, scsi",
    ),
    "IDE": (a_disk(disk={"bus": "ide"}), {}, "IDE bus is not supported; use sata"),
    "a CD-ROM on virtio": (
        a_disk(cdrom={"bus": "virtio"}),
        {},
        "Bus type virtio is invalid for CD-ROM device",
    ),
    "a disk that is two things": (
        a_disk(disk={}, cdrom={}),
        {},
        "disk 'root' can only have a single target type defined",
    ),
    "a boot order below one": (a_disk(bootOrder=0), {}, "must have a boot order > 0, if supplied"),
    "the same boot order twice": (
        {
            "spec": {
                "domain": {
                    "devices": {
                        "disks": [{"name": "root", "bootOrder": 1}],
                        "interfaces": [{"name": "default", "bootOrder": 1, "masquerade": {}}],
                    }
                },
                "networks": [{"name": "default", "pod": {}}],
                "volumes": [{"name": "root", "emptyDisk": {"capacity": "1Gi"}}],
            }
        },
        {},
        "Boot order for 'default' already set for a different device. 'root' has bootOrder 1 too",
    ),
    "an unknown cache": (a_disk(cache="all"), {}, "has invalid value 'all' as cache"),
    "no direct I/O": (
        a_disk(cache="none"),
        {"volumes": {"root": {"direct_io": False}}},
        "Unable to use 'none' cache mode, file system where .* does not support direct I/O",
    ),
    "a shared disk with a cache": (
        a_disk(shareable=True, cache="writeback"),
        {},
        "a sharable disk requires cache = none got: writeback",
    ),
    "an I/O mode": (a_disk(io="fast"), {}, "Supported modes are: native, threads."),
    "native I/O through a cache": (
        a_disk(io="native", cache="writethrough"),
        {},
        "native I/O goes past the host's cache, but the cache mode is writethrough",
    ),
    "an error policy": (a_disk(errorPolicy="cry"), {}, "error policy 'cry' not recognized"),
    "a read-only SATA disk": (
        a_disk(disk={"bus": "sata", "readonly": True}),
        {},
        "sata hard-disks do not support read-only.",
    ),
    "a read-only claim on SATA": (
        a_disk({"persistentVolumeClaim": {"claimName": "x", "readOnly": True}}),
        {},
        "sata hard-disks do not support read-only.",
    ),
    "a tray": (a_disk(cdrom={"tray": "ajar"}), {}, "has the tray 'ajar'; use open or closed"),
    "a serial with a comma": (
        a_disk(serial="a,b"),
        {},
        r"must be made up of the following characters \[A-Za-z0-9_.\+-\]",
    ),
    "a LUN from a file": (
        a_disk(lun={"bus": "scsi"}),
        {},
        "device 'root' is of type lun. Not compatible with a file based disk",
    ),
    "a PCI address on SATA": (
        a_disk(disk={"bus": "sata", "pciAddress": "0000:08:00.0"}),
        {},
        "setting a pci address is not allowed for non-virtio bus types",
    ),
    "a PCI address that is none": (
        a_disk(disk={"bus": "virtio", "pciAddress": "8"}),
        {},
        "disk 'root' has the PCI address '8'; one looks like 0000:08:00.0",
    ),
    "block sizes that nobody knows": (
        a_disk(blockSize={"matchVolume": {}}),
        {},
        "the block sizes of its volume are not known; set blockSize.custom",
    ),
    "an I/O thread on SATA": (
        a_disk(dedicatedIOThread=True, disk={"bus": "sata"}),
        {},
        "IOThreads are not supported for disks on a sata bus",
    ),
    "an image of another format": (
        a_disk(),
        {"volumes": {"root": {"format": "vmdk"}}},
        "holds an image of format 'vmdk'; convert it to raw or qcow2",
    ),
    "a container disk that was not found": (
        a_disk({"containerDisk": {"image": "x"}}),
        {"volumes": {"root": {"backing": None}}},
        "no disk info provided for volume 'root'",
    ),
    "a volume of two kinds": (
        a_disk({"emptyDisk": {"capacity": "1Gi"}, "configMap": {"name": "x"}}),
        {},
        "volume 'root' must have exactly one source type set",
    ),
    "a memory dump as a disk": (
        a_disk({"memoryDump": {"claimName": "x"}}),
        {},
        "volume 'root' of kind memoryDump cannot be shown as a disk",
    ),
    "a volume that climbs": (
        {
            "spec": {
                "domain": {"devices": {"disks": [{"name": "../root"}]}},
                "volumes": [{"name": "../root", "emptyDisk": {"capacity": "1Gi"}}],
            }
        },
        {},
        "the volume '../root' cannot be used as a name",
    ),
    "a disk name with a dot": (
        {
            "spec": {
                "domain": {"devices": {"disks": [{"name": "a.b"}]}},
                "volumes": [{"name": "a.b", "emptyDisk": {"capacity": "1Gi"}}],
            }
        },
        {},
        "the disk 'a.b' cannot be used as a name",
    ),
    "a card without network": (
        some_devices(interfaces=[{"name": "default", "masquerade": {}}]),
        {},
        "failed to find network 'default'; add it to networks",
    ),
    "a card that is not connected": (
        a_card(passtBinding={}),
        {"interfaces": {"default": None}},
        "interface 'default' has no tap device in this pod",
    ),
    "slirp": (a_card(slirp={}), {}, "Slirp interface support has been discontinued since v1.3"),
    "macvtap": (a_card(macvtap={}), {}, "Macvtap network binding has been discontinued"),
    "passt": (a_card(passt={}), {}, "Passt network binding has been discontinued since v1.3"),
    "an unknown model": (
        a_card(model="ne1", masquerade={}),
        {},
        "interface 'default' uses model 'ne1' that is not supported.",
    ),
    "a MAC address that is none": (
        a_card(macAddress="02:00", masquerade={}),
        {},
        "has the MAC address '02:00'; one looks like",
    ),
    "a state": (
        a_card(state="tired", masquerade={}),
        {},
        "has the state 'tired'; use one of up, down",
    ),
    "a video type": (some_devices(video={"type": "cga"}), {}, "video type 'cga' is not known"),
    "an input's bus": (
        some_devices(inputs=[{"name": "mouse", "type": "tablet", "bus": "ps2"}]),
        {},
        "Input device can have only virtio or usb bus.",
    ),
    "an input's type": (
        some_devices(inputs=[{"name": "mouse", "type": "mouse"}]),
        {},
        "Input device can have only tablet type.",
    ),
    "a sound card": (
        some_devices(sound={"name": "music", "model": "sb16"}),
        {},
        "Sound device type is not supported. Options: 'ich9' or 'ac97'",
    ),
    "a watchdog's action": (
        some_devices(watchdog={"name": "dog", "i6300esb": {"action": "bark"}}),
        {},
        "watchdog 'dog' has the action 'bark'; use one of reset, poweroff, shutdown",
    ),
    "a watchdog on ARM": (
        {"spec": {"architecture": "arm64", "domain": {"devices": {"watchdog": {"name": "dog"}}}}},
        {},
        "watchdog is not supported on architecture arm64",
    ),
    "a panic model": (
        some_devices(panicDevices=[{"model": "scream"}]),
        {},
        "panic device model 'scream' is not known",
    ),
    "a host device that is not there": (
        some_devices(hostDevices=[{"name": "card", "deviceName": "x"}]),
        {},
        "no device of this node was set aside for the host device 'card'",
    ),
    "a host device of no kind": (
        some_devices(hostDevices=[{"name": "card", "deviceName": "x"}]),
        {"host_devices": {"card": {"kind": "usb", "address": "left"}}},
        "was given an address that is none of a PCI, mediated or USB device",
    ),
    "SR-IOV without PCI": (
        a_card(sriov={}),
        {"host_devices": {"default": {"kind": "usb", "address": "1:2"}}},
        "was given a device that is no PCI function",
    ),
    "a name that climbs": (
        {"metadata": {"name": "../x"}},
        {},
        "the instance '../x' cannot be used",
    ),
    "a uid that climbs": ({"metadata": {"uid": "../../etc"}}, {}, "the uid '../../etc' cannot be"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_spec_that_cannot_be_a_guest_is_refused(case: str) -> None:
    patch, facts, sentence = REFUSALS[case]
    vmi = a_vmi(patch)
    with pytest.raises(UserError, match=sentence) as refusal:
        convert(with_defaults(vmi, KubeVirtConfiguration()), facts_for(vmi, facts))
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400
    assert refusal.value.reason[0].isupper()


def test_a_watchdog_of_no_model_is_refused_without_defaults() -> None:
    vmi = a_vmi(some_devices(watchdog={"name": "dog"}))
    with pytest.raises(UserError, match="watchdog 'dog' can't be mapped, no watchdog type"):
        convert(vmi, Facts())


def test_an_identity_that_is_not_known_is_left_to_libvirt() -> None:
    vmi = a_vmi(a_card(masquerade={}))
    vmi = msgspec.structs.replace(vmi, spec=without_firmware(vmi.spec))
    domain = convert(vmi, facts_for(vmi, {"interfaces": {"default": {"mac": None}}})).domain
    assert domain.uuid is None
    assert domain.devices.interfaces[0].mac is None


def without_firmware(spec: VirtualMachineInstanceSpec) -> VirtualMachineInstanceSpec:
    return msgspec.structs.replace(spec, domain=msgspec.structs.replace(spec.domain, firmware=None))


def test_a_guest_without_defaults_gets_those_of_its_architecture() -> None:
    vmi = a_vmi(a_disk({"emptyDisk": {"capacity": "1Gi"}}))
    domain = convert(vmi, Facts()).domain
    assert domain.devices.disks[0].target.bus == "sata"
    assert domain.os.type.machine == "q35"
    assert domain.cpu is not None
    assert domain.cpu.mode == "host-model"
