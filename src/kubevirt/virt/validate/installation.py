"""The KubeVirt object: what it says and nobody acts on. It is taken as it is, with a word to whoever wrote it.

    warnings(old, new)      # what this write sets or changes, and what is in vain

A manifest of another installation must be usable here, so nothing of it is a reason to refuse. Each setting of the type
is in one of two tables, as a whole or part by part; `tests/unit/virt/validate/test_installation.py` sees to it.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

import msgspec

from kubevirt.api.configuration import DeveloperConfiguration
from kubevirt.api.installation import KubeVirt, KubeVirtSpec
from kubevirt.virt import gates
from kubevirt.virt.pod import console_log, container_disks
from kubevirt.virt.validate.causes import plain
from kubevirt.virt.validate.warned import WITHOUT_EFFECT as VAIN_EVICTIONS

EFFECTIVE: Final = frozenset(
    {
        "configuration.additionalGuestMemoryOverheadRatio",
        "configuration.architectureConfiguration.amd64",
        "configuration.architectureConfiguration.arm64",
        "configuration.architectureConfiguration.defaultArchitecture",
        "configuration.architectureConfiguration.s390x",
        "configuration.cpuModel",
        "configuration.cpuRequest",
        "configuration.defaultRuntimeClass",
        "configuration.developerConfiguration.cpuAllocationRatio",
        "configuration.developerConfiguration.disabledFeatureGates",
        "configuration.developerConfiguration.featureGates",
        "configuration.developerConfiguration.logVerbosity.nodeVerbosity",
        "configuration.developerConfiguration.logVerbosity.virtAPI",
        "configuration.developerConfiguration.logVerbosity.virtController",
        "configuration.developerConfiguration.logVerbosity.virtHandler",
        "configuration.developerConfiguration.logVerbosity.virtLauncher",
        "configuration.developerConfiguration.memoryOvercommit",
        "configuration.developerConfiguration.nodeSelectors",
        "configuration.developerConfiguration.pvcTolerateLessSpaceUpToPercent",
        "configuration.developerConfiguration.useEmulation",
        "configuration.emulatedMachines",
        "configuration.evictionStrategy",
        "configuration.imagePullPolicy",
        "configuration.liveUpdateConfiguration",
        "configuration.machineType",
        "configuration.memBalloonStatsPeriod",
        "configuration.network.defaultNetworkInterface",
        "configuration.network.permitBridgeInterfaceOnPodNetwork",
        "configuration.ovmfPath",
        "configuration.seccompConfiguration",
        "configuration.selinuxLauncherType",
        "configuration.smbios",
        "configuration.supportContainerResources",
        "configuration.tlsConfiguration.minTLSVersion",
        "configuration.virtualMachineOptions",
        "configuration.vmRolloutStrategy",
    }
)
"""Some values of these do nothing all the same: `_of_values`."""

_NO_OPERATOR: Final = "virt-operator is not built yet"
_NO_MIGRATION: Final = "live migration is not built yet"
_NO_DEVICES: Final = "devices of nodes cannot be handed to guests yet"
_NO_INSTANCETYPES: Final = "instance types and preferences are not built yet"
_OWN_PACE: Final = "our programs keep to their own pace"

IN_VAIN: Final[Mapping[str, str]] = {
    "certificateRotateStrategy": _NO_OPERATOR,
    "configuration.apiConfiguration": _OWN_PACE,
    "configuration.architectureConfiguration.ppc64le": "there are no guests for POWER",
    "configuration.autoCPULimitNamespaceLabelSelector": "CPU limits are not set for guests yet",
    "configuration.changedBlockTrackingLabelSelectors": "backups are not built yet",
    "configuration.commonInstancetypesDeployment": _NO_INSTANCETYPES,
    "configuration.confidentialCompute": "encrypted guests are not available yet",
    "configuration.controllerConfiguration": _OWN_PACE,
    "configuration.developerConfiguration.clusterProfiler": "there is no profiler",
    "configuration.developerConfiguration.diskVerification": (
        "disk images are looked at within limits of our own"
    ),
    "configuration.developerConfiguration.logVerbosity.virtOperator": _NO_OPERATOR,
    "configuration.developerConfiguration.logVerbosity.virtSynchronizationController": (
        _NO_MIGRATION
    ),
    "configuration.developerConfiguration.minimumClusterTSCFrequency": _NO_MIGRATION,
    "configuration.developerConfiguration.minimumReservePVCBytes": (
        "a disk takes the whole of its claim"
    ),
    "configuration.handlerConfiguration": _OWN_PACE,
    "configuration.hypervisors": "guests run in QEMU, by KVM or emulated",
    "configuration.instancetype": _NO_INSTANCETYPES,
    "configuration.ksmConfiguration": "nodes stay as they are",
    "configuration.mediatedDevicesConfiguration": _NO_DEVICES,
    "configuration.migrations": _NO_MIGRATION,
    "configuration.minCPUModel": "it is deprecated, and does nothing in KubeVirt either",
    "configuration.network.binding": "binding plugins are not built yet",
    "configuration.network.permitSlirpInterface": "slirp has been discontinued",
    "configuration.obsoleteCPUModels": "nodes offer all CPU models that QEMU has there",
    "configuration.permittedHostDevices": _NO_DEVICES,
    "configuration.persistentReservationConfiguration": "SCSI reservations are not built yet",
    "configuration.roleAggregationStrategy": (
        "our roles add to admin, edit and view unless the installation was told otherwise"
    ),
    "configuration.supportedGuestAgentVersions": "agents are judged by their commands",
    "configuration.tlsConfiguration.ciphers": "OpenSSL's own choice is used",
    "configuration.virtTemplateDeployment": "templates are not built yet",
    "configuration.virtualMachineInstancesPerNode": "a node takes as many guests as it has room for",
    "configuration.vmStateStorageClass": "TPM and EFI state cannot be kept over restarts yet",
    "configuration.webhookConfiguration": _OWN_PACE,
    "customizeComponents": _NO_OPERATOR,
    "imagePullPolicy": _NO_OPERATOR,
    "imagePullSecrets": _NO_OPERATOR,
    "imageRegistry": _NO_OPERATOR,
    "imageTag": _NO_OPERATOR,
    "infra": _NO_OPERATOR,
    "monitorAccount": _NO_OPERATOR,
    "monitorNamespace": _NO_OPERATOR,
    "productComponent": _NO_OPERATOR,
    "productName": _NO_OPERATOR,
    "productVersion": _NO_OPERATOR,
    "serviceMonitorNamespace": _NO_OPERATOR,
    "synchronizationPort": _NO_MIGRATION,
    "uninstallStrategy": _NO_OPERATOR,
    "workloadUpdateStrategy": _NO_OPERATOR,
    "workloads": _NO_OPERATOR,
}

_NEVER_ROOT: Final = "launchers are never root"
_HELPERS: Final = frozenset({container_disks.SUPPORT_TYPE, console_log.NAME})


def warnings(old: KubeVirt | None, new: KubeVirt) -> tuple[str, ...]:
    """Only what this write brings: who changes one thing need not hear of all others again."""
    before = old.spec if old else KubeVirtSpec()
    found = chain(_of_settings(before, new.spec), _of_values(before, new.spec))
    return tuple(f"spec.{path} has no effect here: {why}" for path, why in found)


def _of_settings(old: KubeVirtSpec, new: KubeVirtSpec) -> Iterator[tuple[str, str]]:
    for path, why in IN_VAIN.items():
        value = _at(new, path)
        if _asks(value) and value != _at(old, path):
            yield path, why


def _of_values(old: KubeVirtSpec, new: KubeVirtSpec) -> Iterator[tuple[str, str]]:
    """Of settings that act, but not with every value."""
    strategy = new.configuration.eviction_strategy or ""
    if strategy in VAIN_EVICTIONS and strategy != old.configuration.eviction_strategy:
        yield f"configuration.evictionStrategy {strategy}", VAIN_EVICTIONS[strategy]
    before = {each.type for each in old.configuration.support_container_resources}
    for each in new.configuration.support_container_resources:
        if each.type not in before | _HELPERS:
            yield (
                f"configuration.supportContainerResources[{plain(each.type)}]",
                f"there are only helpers of type {' and '.join(sorted(_HELPERS))}",
            )
    yield from _of_gates(_developer(old), _developer(new))


def _of_gates(
    old: DeveloperConfiguration, new: DeveloperConfiguration
) -> Iterator[tuple[str, str]]:
    lists = (
        ("featureGates", old.feature_gates, new.feature_gates),
        ("disabledFeatureGates", old.disabled_feature_gates, new.disabled_feature_gates),
    )
    for key, before, now in lists:
        for name in dict.fromkeys(now):
            if name not in gates.ASKED_FOR and name not in before:
                why = _NEVER_ROOT if name == "Root" else "nothing is behind that gate"
                yield f"configuration.developerConfiguration.{key} {plain(name)}", why


def _developer(spec: KubeVirtSpec) -> DeveloperConfiguration:
    return spec.configuration.developer_configuration or DeveloperConfiguration()


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        if value is None:
            return None
        fields = msgspec.structs.fields(value)
        value = getattr(value, next(each.name for each in fields if each.encode_name == name))
    return value


def _asks(value: Any) -> bool:
    """Whether somebody wants something by it. What is off is so here, too; what is empty, but there, may mean all."""
    if isinstance(value, msgspec.Struct):
        said = [getattr(value, each) for each in value.__struct_fields__]
        return all(_is_nothing(each) for each in said) or any(map(_asks, said))
    return not _is_nothing(value) and value is not False


def _is_nothing(value: Any) -> bool:
    return value is None or value in ("", (), {})
