"""cloud-init: what a new guest reads about itself, in the two layouts that its images know.

Data stands in the manifest, as text or base64, or comes from a Secret. The inline limit is
upstream's, and its sentences too: admission will speak them with the same field paths.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.volumes import CloudInitConfigDriveSource, CloudInitNoCloudSource
from kubevirt.virt.annotations import CLUSTER_INSTANCETYPE, INSTANCETYPE
from kubevirt.virt.errors import SpecError, shown
from kubevirt.virt.hostname import hostname_of

INLINE_LIMIT: Final = 2048
"""Bytes of user data or network data in the manifest itself."""
SECRET_LIMIT: Final = 1024 * 1024
"""Bytes from a Secret: what Kubernetes lets one hold."""
KEY_LIMIT: Final = 256

NO_CLOUD_LABEL: Final = "cidata"
CONFIG_DRIVE_LABEL: Final = "config-2"

Source = CloudInitNoCloudSource | CloudInitConfigDriveSource
Secret = Mapping[str, bytes]


class CloudInitError(SpecError):
    """Data that cannot be given to a guest."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="InvalidCloudInit")


class TaggedDevice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A device that its owner has tagged, as the config drive lists it."""

    type: str
    """nic, hostdev or disk."""
    bus: str
    address: str
    mac: str | None = None
    serial: str | None = None
    tags: tuple[str, ...] = ()


class CloudInitData(msgspec.Struct, frozen=True, kw_only=True):
    """User and network data, wherever they came from."""

    user: bytes = b""
    network: bytes = b""


def data_of(source: Source, secret: Secret, field: str) -> CloudInitData:
    """`secret` holds the entries of the referenced Secrets; `field` is for the sentences."""
    _check_sources(source, field)
    user = (
        _entry(secret, ("userdata", "userData"))
        if source.secret_ref
        else _inline(source.user_data, source.user_data_base64, field, "user")
    )
    network = (
        _entry(secret, ("networkdata", "networkData"))
        if source.network_data_secret_ref
        else _inline(source.network_data, source.network_data_base64, field, "network")
    )
    if not user and not network:
        raise CloudInitError(
            f"{field} has neither user data nor network data; its Secret lacks the keys "
            f"userdata and networkdata"
        )
    return CloudInitData(user=user, network=network)


def no_cloud_files(
    vmi: VirtualMachineInstance, data: CloudInitData, keys: tuple[str, ...]
) -> dict[str, bytes]:
    metadata = _without_empty(
        {
            "instance-type": _instance_type(vmi),
            "instance-id": _uuid(vmi),
            "local-hostname": hostname_of(vmi),
            "public-keys": _numbered(keys),
        }
    )
    files = {"meta-data": msgspec.json.encode(metadata), "user-data": data.user}
    return files | ({"network-config": data.network} if data.network else {})


def config_drive_files(
    vmi: VirtualMachineInstance,
    data: CloudInitData,
    keys: tuple[str, ...],
    devices: tuple[TaggedDevice, ...],
) -> dict[str, bytes]:
    name = hostname_of(vmi)
    metadata = _without_empty(
        {
            "instance_type": _instance_type(vmi),
            "instance_id": f"{vmi.metadata.name}.{vmi.metadata.namespace or 'default'}",
            "local_hostname": name,
            "hostname": name,
            "uuid": _uuid(vmi),
            "devices": devices,
            "public_keys": _numbered(keys),
        }
    )
    folder = "openstack/latest"
    files = {
        f"{folder}/meta_data.json": msgspec.json.encode(metadata),
        f"{folder}/user_data": data.user,
    }
    return files | ({f"{folder}/network_data.json": data.network} if data.network else {})


def public_keys(
    vmi: VirtualMachineInstance, method: str, secrets: Mapping[str, Secret]
) -> tuple[str, ...]:
    """SSH keys that the instance's credentials send by `no_cloud` or `config_drive`."""
    keys: list[str] = []
    for credential in vmi.spec.access_credentials:
        key = credential.ssh_public_key
        if not key or getattr(key.propagation_method, method) is None or not key.source.secret:
            continue
        entries = secrets.get(key.source.secret.secret_name, {})
        keys.extend(_key_text(name, entries[name]) for name in sorted(entries))
    if len(keys) > KEY_LIMIT:
        raise CloudInitError(f"{len(keys)} SSH keys are given; {KEY_LIMIT} are the most")
    return tuple(key for key in keys if key)


def _check_sources(source: Source, field: str) -> None:
    users = (source.secret_ref, source.user_data, source.user_data_base64)
    networks = (source.network_data_secret_ref, source.network_data, source.network_data_base64)
    if sum(map(bool, users)) > 1:
        raise CloudInitError(f"{field} must have only one userdatasource set.")
    if sum(map(bool, networks)) > 1:
        raise CloudInitError(f"{field} must have only one networkdata source set.")
    if not any((*users, *networks)):
        raise CloudInitError(
            f"{field} must have at least one userdatasource or one networkdatasource set."
        )


def _inline(text: str | None, encoded: str | None, field: str, kind: str) -> bytes:
    data = text.encode() if text else _decoded(encoded or "", f"{field}.{kind}DataBase64")
    if len(data) > INLINE_LIMIT:
        reference = f"{kind.capitalize()}DataSecretRef"
        raise CloudInitError(
            f"{field} {kind}data exceeds {INLINE_LIMIT} byte limit. "
            f"Should use {reference} for larger data."
        )
    return data


def _decoded(encoded: str, field: str) -> bytes:
    try:
        # Line breaks are part of how base64 is usually printed, so they are let through.
        return base64.b64decode("".join(encoded.splitlines()), validate=True)
    except (binascii.Error, ValueError):
        raise CloudInitError(f"{field} is not a valid base64 value.") from None


def _entry(secret: Secret, names: tuple[str, ...]) -> bytes:
    data = next((secret[name] for name in names if name in secret), b"")
    if len(data) > SECRET_LIMIT:
        raise CloudInitError(f"the Secret's {names[0]} has more than {SECRET_LIMIT} bytes")
    return data


def _key_text(name: str, data: bytes) -> str:
    try:
        return data.decode().strip()
    except UnicodeDecodeError:
        raise CloudInitError(
            f"the SSH key {shown(name)} of an access credential is no text"
        ) from None


def _numbered(keys: tuple[str, ...]) -> dict[str, str]:
    return {str(number): key for number, key in enumerate(keys)}


def _instance_type(vmi: VirtualMachineInstance) -> str | None:
    annotations = vmi.metadata.annotations
    return annotations.get(CLUSTER_INSTANCETYPE) or annotations.get(INSTANCETYPE)


def _uuid(vmi: VirtualMachineInstance) -> str:
    firmware = vmi.spec.domain.firmware
    return (firmware.uuid if firmware else None) or vmi.metadata.uid


def _without_empty(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}
