"""What is taken with a warning."""

from typing import Any

import msgspec
import pytest

from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.virt.validate.concerns import concerns

ROOT = {"name": "root", "containerDisk": {"image": "demo"}}


def said(*volumes: dict[str, Any], **domain: Any) -> tuple[str, ...]:
    data = {"domain": {"devices": {}, **domain}, "volumes": list(volumes)}
    return concerns(msgspec.convert(data, VirtualMachineInstanceSpec), "spec")


def cloud_init(text: str, kind: str = "cloudInitNoCloud") -> dict[str, Any]:
    return {"name": "init", kind: {"userData": text}}


def test_a_machine_with_nothing_to_boot_from() -> None:
    (warning,) = said({"name": "data", "emptyDisk": {"capacity": "1Gi"}})
    assert warning.startswith("spec has nothing to boot from; add a volume")


@pytest.mark.parametrize(
    "domain",
    [
        {"firmware": {"kernelBoot": {"container": {"image": "kernel"}}}},
        {"devices": {"interfaces": [{"name": "default", "bridge": {}, "bootOrder": 1}]}},
    ],
)
def test_there_are_other_ways_to_boot(domain: dict[str, Any]) -> None:
    assert said(**domain) == ()


@pytest.mark.parametrize(
    "volume",
    [ROOT, {"name": "a", "persistentVolumeClaim": {"claimName": "a"}}],
)
def test_a_disk_may_have_a_system_on_it(volume: dict[str, Any]) -> None:
    assert said(volume) == ()


@pytest.mark.parametrize("kind", ["cloudInitNoCloud", "cloudInitConfigDrive"])
def test_user_data_that_is_no_yaml(kind: str) -> None:
    (warning,) = said(ROOT, cloud_init("#cloud-config\nusers: [a\nb: c", kind))
    assert warning.startswith("spec.volumes[1]: userData is no YAML, and cloud-init will ignore it")
    assert "line 3" in warning
    (warning,) = said(ROOT, cloud_init("#cloud-config\na: \x07", kind))
    assert "characters" in warning


@pytest.mark.parametrize(
    "text",
    ["#cloud-config\nusers:\n- name: a\n", "#!/bin/sh\necho [", "", "#cloud-config\n" + "[" * 999],
)
def test_other_user_data_is_left_alone_however_deep(text: str) -> None:
    """A script is no YAML; and what is nested a thousand times is read, and then not whole."""
    assert len(said(ROOT, cloud_init(text))) == (1 if text.endswith("[" * 9) else 0)
