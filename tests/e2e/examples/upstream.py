"""KubeVirt's own examples, each run without a cluster: to a login, or to the sentence that refuses it.

    KUBEVIRT_UPSTREAM=FOLDER .venv/bin/pytest tests/e2e/examples -s

Their files are not part of this repository. They run as they are, but for one thing: a path on the node is put
below the test's own folder. Names of images lead to our guests; claims are files made of them.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from tests import upstream
from tests.e2e.standalone.driver import Machine

from guestimage import guests, image

LOGIN_S = 120.0
ENDING_S = 1.0
LAUNCHER = 107
MIB = 1 << 20

HOST_FOLDER = "/var/data"
"""Where the example with a host disk has it."""

BEYOND: Mapping[str, str] = {
    "instancetype": "instancetype",
    "preference": "preference",
    "efi": "EFI",
    "multus": "Multus",
    "sriov": "SR-IOV",
    "gpus": "GPU",
    "hostDevices": "host devices",
    "tpm": "TPM",
    "hooks.kubevirt.io/hookSidecars": "sidecar hooks",
    "resourceClaims": "resource claims",
}
"""Keys of what a guest without a cluster, or on this machine, cannot have."""
KINDS = ("VirtualMachine", "VirtualMachineInstance")


@dataclass(frozen=True)
class Example:
    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [each for each in yaml.safe_load_all(self.path.read_text()) if each]

    @property
    def is_a_guest(self) -> bool:
        return any(each.get("kind") in KINDS for each in self.documents)

    @property
    def beyond(self) -> list[str]:
        """What it asks for that only a cluster or other hardware has."""
        keys = {key for document in self.documents for key in _keys(document)}
        return [name for key, name in BEYOND.items() if key in keys]


@dataclass(frozen=True)
class Outcome:
    runs: bool
    said: str = ""
    """Why it was refused."""

    def __str__(self) -> str:
        return "runs" if self.runs else f"refused: {self.said}"


def examples() -> list[Example]:
    return [Example(path) for path in upstream.examples()]


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from _keys(each)
    elif isinstance(value, list):
        for each in value:
            yield from _keys(each)


def outcome(machine: Machine, example: Example, images: image.Images, folder: Path) -> Outcome:
    manifest = folder / example.path.name
    manifest.write_text(example.path.read_text().replace(HOST_FOLDER, str(folder)))
    _disk(images, folder / "disk.img")
    claims = {
        "disk-alpine": _disk(images, folder / "alpine.img"),
        "alpine-dv": _disk(images, folder / "volume.img"),
        "disk-custom": _blank(folder / "custom.img"),
        "disk-windows": _blank(folder / "windows.img"),
    }
    words = [word for name, path in claims.items() for word in ("--volume", f"{name}={path}")]
    with machine.launched("--standalone", str(manifest), "--console", *words) as session:
        try:
            session.until("login: ", LOGIN_S)
        except AssertionError as error:
            try:
                session.process.wait(ENDING_S)
            except subprocess.TimeoutExpired:
                raise error from None  # it runs, and nobody can log in
            assert "Traceback" not in session.said, session.said
            said = session.said.splitlines()[-1].removeprefix("virt-launcher: ")
            return Outcome(runs=False, said=said.replace(f"{folder}/", ""))
    return Outcome(runs=True)


def _disk(images: image.Images, path: Path) -> Path:
    """What a claim or the node holds: a disk that boots, and that the guest's user may write."""
    shutil.copyfile(images.raw(guests.ALPINE), path)
    os.chown(path, LAUNCHER, LAUNCHER)
    return path


def _blank(path: Path) -> Path:
    with path.open("wb") as file:
        file.truncate(64 * MIB)
    return path
