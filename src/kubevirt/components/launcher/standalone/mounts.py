"""What a kubelet would mount for an instance's volumes: files of the user's, contents of ConfigMaps and Secrets.

Pure but for looking at the files that the user names. Container images are `images`.
"""

import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from kubevirt.api.credentials import AccessCredential
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instance_status import PersistentVolumeClaimInfo, VolumeStatus
from kubevirt.api.volumes import (
    CloudInitConfigDriveSource,
    CloudInitNoCloudSource,
    ConfigMapVolumeSource,
    DataVolumeSource,
    DownwardAPIVolumeSource,
    EphemeralVolumeSource,
    HostDisk,
    PersistentVolumeClaimVolumeSource,
    SecretVolumeSource,
    ServiceAccountVolumeSource,
    SysprepSource,
    Volume,
)
from kubevirt.base.errors import UserError
from kubevirt.base.quantity import Quantity
from kubevirt.components.launcher.standalone.manifest import Files, Manifest
from kubevirt.virt.errors import UnsupportedError, shown
from kubevirt.virt.layout import Layout
from kubevirt.virt.memory import whole_bytes
from kubevirt.virt.volumes.folders import secrets_of
from kubevirt.virt.volumes.planning import CREATE
from kubevirt.virt.volumes.source import source_of

DISK: Final = "disk.img"
_QCOW2: Final = b"QFI\xfb"


class Mount(msgspec.Struct, frozen=True, kw_only=True):
    """A file or device of the machine, in the launcher's sight."""

    source: Path
    target: str
    read_only: bool = True
    is_device: bool = False
    is_lent: bool = False
    """Whether it becomes the guest's while it runs. Files that a spec merely names keep their owner."""
    create_bytes: int | None = None
    """Size of a file that is to be made."""


class ClaimError(UserError):
    def __init__(self, message: str) -> None:
        super().__init__(message, reason="InvalidClaim")


# Contents.


def contents(manifest: Manifest, layout: Layout) -> Mapping[str, bytes]:
    """Files by their path inside."""
    found: dict[str, bytes] = {}
    for volume in manifest.vmi.spec.volumes:
        for folder, files in _contents(volume, manifest, layout):
            found.update({f"{folder}/{name}": data for name, data in files.items()})
    for credential in manifest.vmi.spec.access_credentials:
        if secret := _secret_of(credential):
            files = _named(manifest.secrets, "Secret", secret, "an access credential")
            folder = layout.access_credential(secret)
            found.update({f"{folder}/{name}": data for name, data in files.items()})
    return found


def _contents(volume: Volume, manifest: Manifest, layout: Layout) -> Iterator[tuple[str, Files]]:
    name, what = volume.name, f"volume {shown(volume.name)}"
    maps, secrets = manifest.config_maps, manifest.secrets
    match source_of(volume):
        case ConfigMapVolumeSource(name=wanted, optional=optional):
            files = _named(maps, "ConfigMap", wanted, what, optional=optional)
            yield layout.config_map(name), files
        case SecretVolumeSource(secret_name=wanted, optional=optional):
            yield layout.secret(name), _named(secrets, "Secret", wanted, what, optional=optional)
        case SysprepSource(config_map=config_map, secret=secret):
            named = [("ConfigMap", maps, config_map), ("Secret", secrets, secret)]
            for kind, known, reference in named:
                if reference:
                    yield layout.sysprep(name), _named(known, kind, reference.name, what)
        case CloudInitNoCloudSource() | CloudInitConfigDriveSource() as source:
            places = (layout.secret(name), layout.network_data(name))
            for place, wanted in zip(places, filter(None, secrets_of(source)), strict=False):
                yield place, _named(secrets, "Secret", wanted, what)
        case DownwardAPIVolumeSource() as source:
            yield layout.downward_api(name), _facts(source, manifest.vmi, what)
        case ServiceAccountVolumeSource():
            raise UnsupportedError(
                f"{what} shows a service account's token, and without a cluster there is none; "
                f"remove the volume and its disk"
            )
        case _:
            return


def _named(
    known: Mapping[str, Files],
    kind: str,
    name: str | None,
    what: str,
    *,
    optional: bool | None = False,
) -> Files:
    if name is not None and name in known:
        return known[name]
    if optional:
        return {}
    raise UserError(
        f"{what} needs the {kind} {shown(name or '')}; put it into the same file, behind a line "
        f"of three dashes",
        reason=f"{kind}NotFound",
    )


def _facts(source: DownwardAPIVolumeSource, vmi: VirtualMachineInstance, what: str) -> Files:
    meta = vmi.metadata
    known = {
        "metadata.name": meta.name or "",
        "metadata.namespace": meta.namespace or "",
        "metadata.uid": meta.uid or "",
        "metadata.labels": _pairs(meta.labels),
        "metadata.annotations": _pairs(meta.annotations),
    }
    files = {}
    for each in source.fields:
        path = each.field_ref.field_path if each.field_ref else None
        if path not in known:
            raise UnsupportedError(
                f"{what} shows {shown(path or 'a resource')}, which there is not without a "
                f"cluster; use one of {', '.join(known)}"
            )
        files[each.path] = known[path].encode()
    return files


def _pairs(values: Mapping[str, str]) -> str:
    """As a kubelet writes them: one `key="value"` a line."""
    return "".join(
        f"{key}={msgspec.json.encode(value).decode()}\n" for key, value in sorted(values.items())
    ).rstrip("\n")


def _secret_of(credential: AccessCredential) -> str | None:
    key = credential.ssh_public_key
    return key.source.secret.secret_name if key and key.source.secret else None


# Disks of the user's own.


def claims(
    vmi: VirtualMachineInstance, given: Mapping[str, Path], layout: Layout
) -> tuple[Mount, ...]:
    """`given` has a path for each claim by its name, as `--volume` tells."""
    return tuple(
        mount for volume in vmi.spec.volumes if (mount := _claim(volume, given, layout)) is not None
    )


def _claim(volume: Volume, given: Mapping[str, Path], layout: Layout) -> Mount | None:
    match source_of(volume):
        case PersistentVolumeClaimVolumeSource(claim_name=name, read_only=read_only):
            return _found(volume.name, name, given, layout, read_only=bool(read_only))
        case DataVolumeSource(name=name):
            return _found(volume.name, name, given, layout, read_only=False)
        case EphemeralVolumeSource(persistent_volume_claim=claim):
            name = claim.claim_name if claim else ""
            return _found(volume.name, name, given, layout, read_only=True)
        case HostDisk(path=path) as disk:
            return _host_disk(volume.name, Path(path), disk, layout)
        case _:
            return None


def _found(
    volume: str, claim: str, given: Mapping[str, Path], layout: Layout, *, read_only: bool
) -> Mount:
    if claim not in given:
        raise ClaimError(
            f"volume {shown(volume)} needs the claim {shown(claim)}; say where its disk is with "
            f"--volume {claim}=PATH (a file, a block device, or a folder with {DISK})"
        )
    path = given[claim].resolve()  # devices are often named by links
    what = f"the claim {shown(claim)}"
    if path.is_dir():
        path = path / DISK
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise ClaimError(f"{what} is to be {path}, which {_why(error)}") from None
    if stat.S_ISBLK(mode):
        target = layout.claim_device(volume)
        return Mount(source=path, target=target, read_only=read_only, is_device=True, is_lent=True)
    if not stat.S_ISREG(mode):
        raise ClaimError(f"{what} is to be {path}, which is neither a file nor a block device")
    _check_raw(path, what)
    target = layout.claim_file(volume)
    return Mount(source=path, target=target, read_only=read_only, is_lent=True)


def _host_disk(volume: str, path: Path, disk: HostDisk, layout: Layout) -> Mount:
    """The file alone: a folder of the machine is nothing for a guest."""
    if not path.is_absolute() or ".." in path.parts or "\0" in str(path):
        raise ClaimError(f"hostDisk.path {shown(path)} of volume {shown(volume)} must be absolute")
    target = layout.host_disk(volume, str(path))
    if path.is_file():
        _check_raw(path, f"the host disk {path}")
        return Mount(source=path, target=target, read_only=False)
    if path.exists() or disk.type != CREATE or not disk.capacity:
        raise ClaimError(
            f"volume {shown(volume)} is the host disk {shown(path)}, which is no file; make it, or set "
            f"type {CREATE} and a capacity"
        )
    size = whole_bytes(Quantity.from_json(disk.capacity), f"capacity of volume {shown(volume)}")
    return Mount(source=path, target=target, read_only=False, create_bytes=size)


def _check_raw(path: Path, what: str) -> None:
    with path.open("rb") as file:
        if file.read(4) == _QCOW2:
            raise ClaimError(
                f"{what} is {path}, a qcow2 image, and the disk of a claim is raw; convert it "
                f"with: qemu-img convert -O raw {path} disk.img"
            )


def _why(error: OSError) -> str:
    return "is not there" if isinstance(error, FileNotFoundError) else f"{error.strerror}".lower()


def with_claims(
    vmi: VirtualMachineInstance, mounts: tuple[Mount, ...], layout: Layout
) -> VirtualMachineInstance:
    """The instance with what its status says of its claims: which ones are block devices."""
    blocks = {mount.target for mount in mounts if mount.is_device}
    status = tuple(
        VolumeStatus(
            name=volume.name,
            target="",
            persistent_volume_claim_info=PersistentVolumeClaimInfo(volume_mode="Block"),
        )
        for volume in vmi.spec.volumes
        if layout.claim_device(volume.name) in blocks
    )
    return replace(vmi, status=replace(vmi.status, volume_status=status)) if status else vmi
