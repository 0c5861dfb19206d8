"""From the flags of `create vm` to what is wished for."""

import re
import secrets
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from kubevirt.base.errors import UserError
from kubevirt.cli.creating.cloud_init import NONE, CloudInit
from kubevirt.cli.creating.imports import FLAG, OLD_FLAGS
from kubevirt.cli.creating.machine import Inference, Wish
from kubevirt.cli.targets import checked

_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""Kubernetes' own for names that nobody chose: no word comes of them."""
_PASSWORD_LIMIT: Final = 4096
_NEXT_KEY: Final = re.compile(r",(?=(?:ssh-|ecdsa-|sk-))")


def letters() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(5))


def machine(given: Mapping[str, Any], explicit: Collection[str], namespace: str) -> Wish:
    """`explicit` has the names of those that somebody wrote."""
    return Wish(
        name=checked(given["name"] or f"vm-{letters()}", "name"),
        namespace=namespace,
        run_strategy=given["run_strategy"],
        grace_period_s=given["grace_period_s"],
        memory=given["memory"],
        instancetype=_inference("instancetype", given, explicit),
        preference=_inference("preference", given, explicit),
        container_disks=given["container_disks"],
        claims=given["claims"],
        imported=tuple(_imported(given)),
        sysprep=given["sysprep"],
        credentials=given["credentials"],
        data_source=given["data_source"],
        agent_manages_ssh=given["manages_ssh"],
        told=_cloud_init(given),
    )


def warnings(explicit: frozenset[str], given: Mapping[str, Any]) -> Iterator[str]:
    for flag in OLD_FLAGS:
        if given[flag.replace("-", "_")]:
            yield f"Flag --{flag} has been deprecated, use flag --{FLAG} instead"
    if "password_file" in explicit:
        yield "the password stands in the manifest, and later in the VM, for everybody who may read it"
    if given["data_source"].lower() == NONE and explicit & _FOR_CLOUD_INIT:
        yield "with --cloud-init none, what the other flags ask of cloud-init is not written"


_FOR_CLOUD_INIT: Final = {"password_file", "ssh_keys", "manages_ssh", "user_data", "network_data"}


def _inference(what: str, given: Mapping[str, Any], explicit: Collection[str]) -> Inference:
    return Inference(
        name=given[what],
        is_on=given[f"infers_{what}"],
        volume=given[f"infer_{what}_from"],
        is_explicit=bool({f"infers_{what}", f"infer_{what}_from"} & set(explicit)),
    )


def _imported(given: Mapping[str, Any]) -> Iterator[str]:
    for flag, kind in OLD_FLAGS.items():
        for parameters in given[flag.replace("-", "_")]:
            yield f"type:{kind},{parameters}"
    yield from given["imported"]


def _cloud_init(given: Mapping[str, Any]) -> CloudInit:
    return CloudInit(
        user=given["user"],
        password=_password(given["password_file"]),
        ssh_keys=tuple(key for each in given["ssh_keys"] for key in _NEXT_KEY.split(each)),
        user_data=given["user_data"],
        network_data=given["network_data"],
    )


def _password(file: Path | None) -> str:
    if file is None:
        return ""
    with file.open("rb") as opened:
        data = opened.read(_PASSWORD_LIMIT + 1)
    if len(data) > _PASSWORD_LIMIT:
        raise UserError(f"--password-file: {file} is longer than a password is", reason="Usage")
    try:
        return data.decode().strip()
    except UnicodeDecodeError:
        raise UserError(f"--password-file: {file} is no text", reason="Usage") from None
