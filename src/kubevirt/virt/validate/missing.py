"""What has no implementation here yet. Refused with a sentence, never accepted in silence.

Each entry has a name; `Rules.built` takes it out of the table, which is how a part that arrives later,
or a cluster that has more, switches the refusal off. Who makes pods (`virt.pod.refusals`) refuses by the same table.
"""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from kubevirt.api.credentials import AccessCredential
from kubevirt.api.disks import Disk
from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.api.interfaces import Interface, Network
from kubevirt.api.volumes import Volume
from kubevirt.virt.annotations import HOOK_SIDECARS
from kubevirt.virt.validate.causes import Causes, not_supported
from kubevirt.virt.validate.rules import Rules

Spec = VirtualMachineInstanceSpec

KINDS: Final[Mapping[str, str]] = {
    "virtualmachineinstancemigrations.kubevirt.io": "live migration",
    "virtualmachineinstancereplicasets.kubevirt.io": "replica sets of instances",
    "virtualmachineinstancepresets.kubevirt.io": "presets",
    "virtualmachinepools.pool.kubevirt.io": "pools of virtual machines",
    "virtualmachinesnapshots.snapshot.kubevirt.io": "snapshots",
    "virtualmachinesnapshotcontents.snapshot.kubevirt.io": "snapshots",
    "virtualmachinerestores.snapshot.kubevirt.io": "restoring snapshots",
    "virtualmachineexports.export.kubevirt.io": "exports of volumes",
    "virtualmachinebackups.backup.kubevirt.io": "backups",
    "virtualmachinebackuptrackers.backup.kubevirt.io": "backups",
    "virtualmachineinstancetypes.instancetype.kubevirt.io": "instance types",
    "virtualmachineclusterinstancetypes.instancetype.kubevirt.io": "instance types",
    "virtualmachinepreferences.instancetype.kubevirt.io": "preferences",
    "virtualmachineclusterpreferences.instancetype.kubevirt.io": "preferences",
    "migrationpolicies.migrations.kubevirt.io": "live migration",
    "virtualmachineclones.clone.kubevirt.io": "cloning of virtual machines",
    "plugins.plugin.kubevirt.io": "plugins",
}
"""Resources that the API serves and nobody acts on, with what is missing."""


class Feature(msgspec.Struct, frozen=True):
    name: str
    field: str
    """Below the spec."""
    sentence: str
    is_used: Callable[[Spec], bool]


def kind_causes(resource: str, group: str, rules: Rules) -> Causes:
    """For the creation of an object: `resource` is the plural, as a request names it."""
    name = f"{resource}.{group}"
    if name in KINDS and name not in rules.built:
        yield not_supported(
            "kind",
            f"not built yet: {KINDS[name]}; nothing would act on {name}, so none is created",
        )


def missing_causes(spec: Spec, field: str, rules: Rules) -> Causes:
    for feature in FEATURES:
        if feature.name not in rules.built and feature.is_used(spec):
            at = f"{field}.{feature.field}"
            yield not_supported(at, f"{feature.sentence} yet; remove {at}")
    for index, volume in enumerate(spec.volumes):
        yield from _volume(volume, f"{field}.volumes[{index}]", rules)
    for index, credential in enumerate(spec.access_credentials):
        yield from _credential(credential, f"{field}.accessCredentials[{index}]", rules)
    for index, interface in enumerate(spec.domain.devices.interfaces):
        yield from _interface(interface, f"{field}.domain.devices.interfaces[{index}]", rules)
    for index, disk in enumerate(spec.domain.devices.disks):
        yield from _disk(disk, f"{field}.domain.devices.disks[{index}]", rules)
    for index, network in enumerate(spec.networks):
        yield from _network(network, f"{field}.networks[{index}]", rules)


def sidecar_causes(annotations: Mapping[str, str], field: str, rules: Rules) -> Causes:
    """Hook sidecars: behind their gate as upstream, and not built behind it."""
    if not annotations.get(HOOK_SIDECARS):
        return
    here = f"{field}.annotations"
    if not rules.gate("Sidecar"):
        yield not_supported(
            here,
            f"sidecar feature gate is not enabled in kubevirt-config, invalid entry {HOOK_SIDECARS}",
        )
    # Nobody should open the gate only to learn this.
    yield from unbuilt_sidecar_causes(annotations, field, rules)


def unbuilt_sidecar_causes(annotations: Mapping[str, str], field: str, rules: Rules) -> Causes:
    """Whatever their gate says."""
    if annotations.get(HOOK_SIDECARS):
        yield from _unless(
            "sidecars",
            rules,
            f"{field}.annotations",
            f"hook sidecars are not built yet; remove the annotation {HOOK_SIDECARS}",
        )


def _volume(volume: Volume, at: str, rules: Rules) -> Causes:
    if volume.data_volume is not None:
        yield from _unless(
            "dataVolumes",
            rules,
            f"{at}.dataVolume",
            "DataVolumes are not built yet; use persistentVolumeClaim with a claim that holds the "
            "image, or containerDisk",
        )
    if volume.memory_dump is not None:
        yield from _unless("memoryDump", rules, at, f"memory dumps are not built yet; remove {at}")
    if volume.downward_metrics is not None:
        yield from _unless(
            "downwardMetrics",
            rules,
            at,
            f"guests cannot be shown the measures of their node yet; remove {at}",
        )
    if volume.container_path is not None:
        yield from _unless(
            "virtiofs", rules, at, f"folders cannot be shared by virtiofs yet; remove {at}"
        )
    claim, data = volume.persistent_volume_claim, volume.data_volume
    for kind, source in (("persistentVolumeClaim", claim), ("dataVolume", data)):
        if source is not None and source.hotpluggable:
            here = f"{at}.{kind}.hotpluggable"
            yield from _unless(
                "hotplug",
                rules,
                here,
                f"volumes cannot be plugged into running guests yet; remove {here}",
            )


def _credential(credential: AccessCredential, at: str, rules: Rules) -> Causes:
    """What cloud-init brings is built; what the guest's agent would set while it runs is not."""
    keys = credential.ssh_public_key
    if keys is not None and keys.propagation_method.qemu_guest_agent is not None:
        yield from _unless(
            "agentCredentials",
            rules,
            f"{at}.sshPublicKey.propagationMethod.qemuGuestAgent",
            "keys cannot be set by the guest's agent yet; use noCloud: {} or configDrive: {} with a "
            "cloud-init volume",
        )
    if credential.user_password is not None:
        yield from _unless(
            "agentCredentials",
            rules,
            f"{at}.userPassword",
            "passwords cannot be set by the guest's agent yet; write chpasswd into the user data of a "
            "cloud-init volume",
        )


def _interface(interface: Interface, at: str, rules: Rules) -> Causes:
    for name in ("sriov", "binding", "passt_binding"):
        if getattr(interface, name) is not None:
            key = "passtBinding" if name == "passt_binding" else name
            yield from _unless(
                key,
                rules,
                f"{at}.{key}",
                f"the binding {key} is not built yet; use masquerade or bridge",
            )


def _disk(disk: Disk, at: str, rules: Rules) -> Causes:
    if disk.changed_block_tracking:
        here = f"{at}.changedBlockTracking"
        yield from _unless(
            "backups", rules, here, f"changed blocks are not recorded yet; remove {here}"
        )


def _network(network: Network, at: str, rules: Rules) -> Causes:
    if network.multus is not None:
        yield from _unless(
            "multus", rules, at, "networks of Multus cannot be attached yet; use pod: {}"
        )
    if network.resource_claim is not None:
        yield from _unless(
            "resourceClaims",
            rules,
            at,
            "networks of resource claims cannot be attached yet; use pod: {}",
        )


def _unless(name: str, rules: Rules, field: str, message: str) -> Causes:
    if name not in rules.built:
        yield not_supported(field, message)


def _keeps_efi(spec: Spec) -> bool:
    firmware = spec.domain.firmware
    efi = firmware.bootloader.efi if firmware and firmware.bootloader else None
    return bool(efi and efi.persistent)


def _keeps_tpm(spec: Spec) -> bool:
    tpm = spec.domain.devices.tpm
    return bool(tpm and tpm.persistent)


def _locks_memory(spec: Spec) -> bool:
    reserved = spec.domain.memory.reserved_overhead if spec.domain.memory else None
    return bool(reserved and reserved.mem_lock == "Required")


FEATURES: Final = (
    Feature(
        "usbRedirection",
        "domain.devices.clientPassthrough",
        "USB devices of whoever is connected cannot be handed to guests",
        lambda spec: spec.domain.devices.client_passthrough is not None,
    ),
    Feature(
        "downwardMetrics",
        "domain.devices.downwardMetrics",
        "guests cannot be shown the measures of their node",
        lambda spec: spec.domain.devices.downward_metrics is not None,
    ),
    Feature(
        "vsock",
        "domain.devices.autoattachVSOCK",
        "guests cannot be reached by vsock",
        lambda spec: bool(spec.domain.devices.autoattach_vsock),
    ),
    Feature(
        "memoryLock",
        "domain.memory.reservedOverhead.memLock",
        "the memory beside a guest's own cannot be locked",
        _locks_memory,
    ),
    Feature(
        "virtiofs",
        "domain.devices.filesystems",
        "folders cannot be shared by virtiofs",
        lambda spec: bool(spec.domain.devices.filesystems),
    ),
    Feature(
        "gpus",
        "domain.devices.gpus",
        "graphics cards of a node cannot be handed to guests",
        lambda spec: bool(spec.domain.devices.gpus),
    ),
    Feature(
        "hostDevices",
        "domain.devices.hostDevices",
        "devices of a node cannot be handed to guests",
        lambda spec: bool(spec.domain.devices.host_devices),
    ),
    Feature(
        "resourceClaims",
        "resourceClaims",
        "dynamic resource allocation is not available",
        lambda spec: bool(spec.resource_claims),
    ),
    Feature(
        "utilityVolumes",
        "utilityVolumes",
        "utility volumes are not available",
        lambda spec: bool(spec.utility_volumes),
    ),
    Feature(
        "launchSecurity",
        "domain.launchSecurity",
        "encrypted guests are not available",
        lambda spec: spec.domain.launch_security is not None,
    ),
    Feature(
        "persistentTpm",
        "domain.devices.tpm.persistent",
        "a TPM cannot be kept over restarts",
        _keeps_tpm,
    ),
    Feature(
        "persistentEfi",
        "domain.firmware.bootloader.efi.persistent",
        "EFI variables cannot be kept over restarts",
        _keeps_efi,
    ),
)
