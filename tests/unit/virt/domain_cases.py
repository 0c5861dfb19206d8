"""Golden cases: a VMI with the facts around it, and the domain it must become.

Each case is a pair in tests/golden/domain/: `NAME.yaml` says what is put in, `NAME.xml` what comes
out. The YAML holds only what the case is about; it is laid over the small guest below. Write the XML
anew with

    GOLDEN=write .venv/bin/pytest tests/unit/virt/test_domain_golden.py

and review the difference: it is the change of behaviour that the commit makes.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.virt.convert.conversion import Conversion, convert
from kubevirt.virt.convert.facts import Facts
from kubevirt.virt.convert.notes import Note
from kubevirt.virt.defaults.instance import with_defaults

FOLDER = Path(__file__).parents[2] / "golden" / "domain"
WRITE = os.environ.get("GOLDEN") == "write"

SMALL_GUEST: Mapping[str, Any] = {
    "metadata": {
        "name": "testvm",
        "namespace": "default",
        "uid": "f4686d2c-6e8d-4335-b8fd-81bee22f4814",
    },
    "spec": {
        "domain": {
            "firmware": {"uuid": "e4686d2c-6e8d-4335-b8fd-81bee22f4814"},
            "memory": {"guest": "64Mi"},
            "devices": {"autoattachPodInterface": False},
        }
    },
}
FIRMWARE: Mapping[str, Any] = {
    "plain": {"code": "/usr/share/OVMF/OVMF_CODE.fd", "vars": "/usr/share/OVMF/OVMF_VARS.fd"},
    "secure": {
        "code": "/usr/share/OVMF/OVMF_CODE.secboot.fd",
        "vars": "/usr/share/OVMF/OVMF_VARS.secboot.fd",
    },
    "sev": {"code": "/usr/share/OVMF/OVMF_CODE.cc.fd", "vars": "/usr/share/OVMF/OVMF_VARS.fd"},
    "snp": {"code": "/usr/share/OVMF/OVMF.amdsev.fd"},
    "tdx": {"code": "/usr/share/OVMF/OVMF.inteltdx.fd"},
}


@dataclass(frozen=True)
class Case:
    name: str
    about: str
    vmi: VirtualMachineInstance
    facts: Facts
    notes: tuple[Note, ...]
    needs_libvirt: tuple[int, ...]
    """The first version whose schema knows what the case shows."""

    @property
    def golden(self) -> Path:
        return FOLDER / f"{self.name}.xml"

    def conversion(self) -> Conversion:
        return convert(with_defaults(self.vmi, KubeVirtConfiguration()), self.facts)


@cache
def cases() -> tuple[Case, ...]:
    paths = sorted(FOLDER.glob("*.yaml"))
    return tuple(case_of(path.stem, yaml.safe_load(path.read_text())) for path in paths)


def case_of(name: str, data: Mapping[str, Any]) -> Case:
    vmi = a_vmi(data.get("vmi", {}))
    version = str(data.get("needs_libvirt", "0"))
    return Case(
        name=name,
        about=data["about"],
        vmi=vmi,
        facts=facts_for(vmi, data.get("facts", {})),
        notes=tuple(msgspec.convert(note, Note) for note in data.get("notes", ())),
        needs_libvirt=tuple(map(int, version.split("."))),
    )


def a_vmi(patch: Mapping[str, Any]) -> VirtualMachineInstance:
    """The small guest, changed as the patch says; `None` takes a value away."""
    return msgspec.convert(merged(SMALL_GUEST, patch), VirtualMachineInstance)


def facts_for(vmi: VirtualMachineInstance, patch: Mapping[str, Any]) -> Facts:
    """Everything the guest needs is there: images below overlays, taps for network cards."""
    volumes = {
        volume.name: {"backing": {"path": f"/images/{volume.name}.qcow2", "format": "qcow2"}}
        for volume in vmi.spec.volumes
        if volume.container_disk or volume.ephemeral
    }
    interfaces = {
        interface.name: {"tap": f"tap{number}", "mac": f"02:00:00:00:01:{number:02x}", "mtu": 1450}
        for number, interface in enumerate(vmi.spec.domain.devices.interfaces)
        if interface.sriov is None
    }
    base = {"volumes": volumes, "interfaces": interfaces, "firmware": FIRMWARE}
    return msgspec.convert(merged(base, patch), Facts)


def merged(base: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON merge patch: maps are merged, everything else replaces."""
    result = dict(base)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(result.get(key), Mapping):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result
