"""cloud-init data inside a manifest: small, readable, from one source each."""

import base64
import binascii
from typing import Final

from kubevirt.api.volumes import CloudInitConfigDriveSource, CloudInitNoCloudSource
from kubevirt.virt.validate.causes import Causes, invalid

USER_DATA_LIMIT: Final = 2048
NETWORK_DATA_LIMIT: Final = 2048

Source = CloudInitConfigDriveSource | CloudInitNoCloudSource


def cloud_init_causes(source: Source, here: str) -> Causes:
    user = (source.user_data, source.user_data_base64, source.secret_ref)
    network = (source.network_data, source.network_data_base64, source.network_data_secret_ref)
    users, networks = _given(user), _given(network)
    if users > 1:
        yield invalid(here, f"{here} must have only one userdatasource set.")
    if networks > 1:
        yield invalid(here, f"{here} must have only one networkdata source set.")
    if not users and not networks:
        yield invalid(
            here, f"{here} must have at least one userdatasource or one networkdatasource set."
        )
    yield from _text(here, "userdata", USER_DATA_LIMIT, "UserDataSecretRef", source.user_data)
    yield from _encoded(
        f"{here}.userDataBase64", "userdata", USER_DATA_LIMIT, source.user_data_base64
    )
    yield from _text(
        here, "networkdata", NETWORK_DATA_LIMIT, "NetworkDataSecretRef", source.network_data
    )
    yield from _encoded(
        f"{here}.networkDataBase64", "networkdata", NETWORK_DATA_LIMIT, source.network_data_base64
    )


def _given(sources: tuple[object, ...]) -> int:
    # An empty text counts as none, as it does upstream, where it cannot be told from an absent one.
    return sum(1 for each in sources if each is not None and each != "")


def _text(here: str, kind: str, limit: int, way_out: str, text: str | None) -> Causes:
    if text and len(text.encode("utf-8", "replace")) > limit:
        yield invalid(
            here, f"{here} {kind} exceeds {limit} byte limit. Should use {way_out} for larger data."
        )


def _encoded(here: str, kind: str, limit: int, text: str | None) -> Causes:
    if not text:
        return
    try:
        # Go takes line ends within base64, and so do the manifests that were written for it.
        data = base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        yield invalid(here, f"{here} is not a valid base64 value.")
        return
    if len(data) > limit:
        secret = "UserDataSecretRef" if kind == "userdata" else "NetworkDataSecretRef"
        parent = here.rpartition(".")[0]
        yield invalid(
            parent,
            f"{parent} {kind} exceeds {limit} byte limit. Should use {secret} for larger data.",
        )
