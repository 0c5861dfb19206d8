"""DataVolumes that are made for a machine: each is used, and each knows where its bytes come from."""

from typing import Final

import msgspec

from kubevirt.api.data_volume import DataVolumeSource, DataVolumeSpec
from kubevirt.api.machine import VirtualMachineSpec
from kubevirt.virt.validate.causes import Causes, invalid, not_supported, plain, required
from kubevirt.virt.validate.rules import Rules

LIMIT: Final = 256
_SOURCES: Final = tuple(field.name for field in msgspec.structs.fields(DataVolumeSource))


def data_volume_template_causes(spec: VirtualMachineSpec, rules: Rules) -> Causes:
    here = "spec.dataVolumeTemplates"
    if len(spec.data_volume_templates) > LIMIT:
        yield invalid(here, f"{here} list exceeds the {LIMIT} element limit in length")
        return
    if spec.data_volume_templates and "dataVolumes" not in rules.built:
        yield not_supported(
            here,
            "DataVolumes are not built yet; use persistentVolumeClaim with a claim that holds the "
            "image, or containerDisk",
        )
    template = spec.template.spec
    volumes = template.volumes if template else ()
    used = {volume.data_volume.name for volume in volumes if volume.data_volume} | {
        volume.persistent_volume_claim.claim_name
        for volume in volumes
        if volume.persistent_volume_claim
    }
    for index, entry in enumerate(spec.data_volume_templates):
        at = f"{here}[{index}]"
        name = entry.metadata.name
        if not name:
            yield required(
                f"{at}.name", f"'name' field must not be empty for DataVolumeTemplate entry {at}."
            )
        if name not in used:
            yield required(
                at,
                f"DataVolumeTemplate entry {at} must be referenced in the VMI template's 'volumes' "
                f"list",
            )
        yield from _volume(entry.spec, f"{at}.spec")


def _volume(spec: DataVolumeSpec, here: str) -> Causes:
    if spec.pvc is None and spec.storage is None:
        yield invalid(f"{here}.pvc", "Missing Data volume PVC or Storage")
    if spec.pvc is not None and spec.storage is not None:
        yield invalid(
            f"{here}.storage",
            "Duplicate storage definition, both target storage and target pvc defined",
        )
    if spec.source is not None and spec.source_ref is None:
        given = [name for name in _SOURCES if getattr(spec.source, name) is not None]
        if not given:
            yield invalid(f"{here}.source", "Missing dataVolume valid source")
        if len(given) > 1:
            yield invalid(f"{here}.source", "Multiple dataVolume sources")
    elif (spec.source is None) == (spec.source_ref is None) and not _is_populated(spec):
        yield invalid(
            here, "Data volume should have either Source, SourceRef, or be externally populated"
        )
    if spec.source_ref is not None and spec.source_ref.kind != "DataSource":
        yield invalid(
            f"{here}.sourceRef.kind",
            f"{here}.sourceRef.kind '{plain(spec.source_ref.kind)}' is not known; use DataSource",
        )


def _is_populated(spec: DataVolumeSpec) -> bool:
    """Whether somebody else fills the claim."""
    if spec.source is not None:
        return False
    target = spec.pvc or spec.storage
    return target is not None and bool(target.data_source or target.data_source_ref)
