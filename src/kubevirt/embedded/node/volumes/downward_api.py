"""What a pod may know of itself, as files."""

from collections.abc import Iterable

from kubevirt.api.core.pod_volumes import DownwardAPIVolumeFile
from kubevirt.embedded.node import downward
from kubevirt.embedded.node.volumes.contents import File, Files, Origin
from kubevirt.embedded.objects.pods import spec_of


def files(origin: Origin, items: Iterable[DownwardAPIVolumeFile], mode: int) -> Files:
    return {
        each.path: File(
            data=_text(origin, each).encode(), mode=mode if each.mode is None else each.mode
        )
        for each in items
    }


def _text(origin: Origin, item: DownwardAPIVolumeFile) -> str:
    pod = origin.pod
    if item.field_ref is not None:
        return downward.field(pod, item.field_ref.field_path, origin.places)
    if item.resource_field_ref is not None:
        # A volume belongs to no container: which one is meant stands in the reference.
        first = spec_of(pod).containers[0]
        return downward.resource(pod, first, item.resource_field_ref, origin.places)
    return ""
