"""Volumes that are there when the guest starts: container disks, claims, sysprep."""

from collections.abc import Sequence
from typing import Final

from kubevirt.cli.creating.draft import Draft
from kubevirt.cli.creating.parameters import Parameters

CONTAINER_DISK: Final = "volume-containerdisk"
CLAIM: Final = "volume-pvc"
SYSPREP: Final = "volume-sysprep"
SYSPREP_DISK: Final = "sysprepdisk"
_KNOWN: Final = ("bootorder", "name", "src")
_SYSPREP_TYPES: Final = ("configMap", "secret")


def add_container_disks(draft: Draft, given: Sequence[str]) -> None:
    for number, text in enumerate(given):
        found = Parameters(CONTAINER_DISK, text, _KNOWN)
        name = found.get("name") or f"{draft.name}-containerdisk-{number}"
        source = {"containerDisk": {"image": found.need("src")}}
        draft.add(CONTAINER_DISK, name, source, found.boot_order())


def add_claims(draft: Draft, given: Sequence[str]) -> None:
    for text in given:
        # KubeVirt's own examples write the bare name of a claim, too.
        found = Parameters(CLAIM, text if ":" in text else f"src:{text}", _KNOWN)
        claim = found.local("claim")
        source = {"persistentVolumeClaim": {"claimName": claim}}
        draft.add(CLAIM, found.get("name") or claim, source, found.boot_order())


def add_sysprep(draft: Draft, given: str) -> None:
    if not given:
        return
    found = Parameters(SYSPREP, given, ("src", "type"))
    kind = found.get("type") or _SYSPREP_TYPES[0]
    if kind not in _SYSPREP_TYPES:
        found.refuse(f"the type is {' or '.join(_SYSPREP_TYPES)}, not {kind!r}")
    draft.add(SYSPREP, SYSPREP_DISK, {"sysprep": {kind: {"name": found.local("source")}}})
