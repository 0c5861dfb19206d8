"""What a pod of ours has no place for yet: refused with a sentence, never left out in silence."""

from collections.abc import Iterator

from kubevirt.virt.errors import UnsupportedError, shown
from kubevirt.virt.pod import names
from kubevirt.virt.pod.launch import Launch


def refuse_what_is_missing(launch: Launch) -> None:
    for sentence in (*_things(launch), *_networks(launch)):
        raise UnsupportedError(sentence)


def _things(launch: Launch) -> Iterator[str]:
    spec, devices = launch.spec, launch.devices
    if launch.vmi.metadata.annotations.get(names.HOOK_SIDECARS):
        yield f"there are no hook sidecars here; remove the annotation {names.HOOK_SIDECARS}"
    if devices.filesystems:
        yield "folders cannot be shared by virtiofs yet; remove spec.domain.devices.filesystems"
    if devices.gpus or devices.host_devices:
        yield (
            "devices of a node cannot be handed to guests yet; remove spec.domain.devices.gpus and "
            "spec.domain.devices.hostDevices"
        )
    if spec.resource_claims:
        yield "dynamic resource allocation is not available yet; remove spec.resourceClaims"
    if spec.utility_volumes:
        yield "utility volumes are not available yet; remove spec.utilityVolumes"
    if launch.domain.launch_security:
        yield "encrypted guests are not available yet; remove spec.domain.launchSecurity"
    if devices.tpm and devices.tpm.persistent:
        yield "a TPM cannot be kept over restarts yet; remove spec.domain.devices.tpm.persistent"
    firmware = launch.domain.firmware
    efi = firmware.bootloader.efi if firmware and firmware.bootloader else None
    if efi and efi.persistent:
        yield (
            "EFI variables cannot be kept over restarts yet; remove "
            "spec.domain.firmware.bootloader.efi.persistent"
        )


def _networks(launch: Launch) -> Iterator[str]:
    for network in launch.spec.networks:
        if network.pod is None:
            yield (
                f"network {shown(network.name)} is not the pod's own, and there are no others yet; "
                f"use pod: {{}}"
            )
    for interface in launch.devices.interfaces:
        if interface.state != "absent" and not (interface.masquerade or interface.bridge):
            yield (
                f"interface {shown(interface.name)} has a binding that is not available; use "
                f"masquerade or bridge"
            )
