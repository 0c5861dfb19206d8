"""What a container sees of its pod's volumes: sources that are prepared, as mounts."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from kubevirt.api.core.container import Container, VolumeMount
from kubevirt.base.errors import KubevirtError, UserError
from kubevirt.embedded.node.neighbours import NotNow
from kubevirt.embedded.node.volumes import disks, sub_path
from kubevirt.embedded.node.volumes.source import Source
from kubevirt.embedded.runtime.container import Mount

REASON: Final = "CreateContainerConfigError"
_PARTS: Final = "volume-subpaths"
_NODES: Final = "volumeDevices/nodes"


def mounts(
    container: Container,
    sources: Mapping[str, Source],
    pod_folder: Path,
    environment: Mapping[str, str],
) -> list[Mount]:
    found = [
        _mount(container, number, each, sources, pod_folder, environment)
        for number, each in enumerate(container.volume_mounts)
    ]
    found.sort(key=lambda each: len(PurePosixPath(each.target).parts))
    for device in container.volume_devices:
        own = pod_folder / _NODES / device.name / container.name
        source = str(disks.node(_source(sources, device.name).path, own))
        found.append(Mount(source=source, target=device.device_path, is_device=True))
    return found


def _mount(
    container: Container,
    number: int,
    wanted: VolumeMount,
    sources: Mapping[str, Source],
    pod_folder: Path,
    environment: Mapping[str, str],
) -> Mount:
    source = _source(sources, wanted.name)
    if wanted.mount_propagation == "Bidirectional":
        raise NotNow(
            REASON,
            f'volumeMount "{wanted.name}" of container "{container.name}" asks for mountPropagation '
            "Bidirectional, which the sandbox of this node cannot give; use HostToContainer",
        )
    path = source.path
    if wanted.sub_path or wanted.sub_path_expr:
        path = pod_folder / _PARTS / wanted.name / container.name / str(number)
        try:
            part = _part(wanted, environment)
            sub_path.mount(source.path, part, path, may_make=not source.is_read_only)
        except (KubevirtError, OSError) as error:
            raise NotNow(
                REASON,
                f'failed to prepare subPath for volumeMount "{wanted.name}" of container '
                f'"{container.name}": {error}',
            ) from None
    return Mount(
        source=str(path),
        target=_target(wanted.mount_path),
        is_read_only=source.is_read_only or bool(wanted.read_only),
    )


def _source(sources: Mapping[str, Source], name: str) -> Source:
    if name not in sources:
        raise NotNow(REASON, f'cannot find volume "{name}" to mount into container')
    return sources[name]


def _part(wanted: VolumeMount, environment: Mapping[str, str]) -> str:
    part = wanted.sub_path or sub_path.expanded(wanted.sub_path_expr or "", environment)
    if not part:
        raise UserError("the subPath is empty once its variables are filled in")
    return part


def _target(path: str) -> str:
    """Relative ones are below the root of the container."""
    return path if path.startswith("/") else f"/{path}"
