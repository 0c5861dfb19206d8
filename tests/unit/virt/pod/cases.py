"""Instances and the pods that they become, for tests that each look at one thing."""

from typing import Any

from tests.unit.virt.domain_cases import a_vmi

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod, PodSpec
from kubevirt.virt.defaults.instance import with_defaults
from kubevirt.virt.pod.config import PodConfig
from kubevirt.virt.pod.rendering import render

UID = "f4686d2c-6e8d-4335-b8fd-81bee22f4814"


def a_config(**settings: Any) -> PodConfig:
    return PodConfig(launcher_image="launcher:v1", **{"emulation": True, **settings})


def a_pod(
    spec: dict[str, Any] | None = None,
    metadata: dict[str, Any] | None = None,
    blocks: frozenset[str] | None = None,
    **settings: Any,
) -> Pod:
    """Of the small guest, changed as `spec` and `metadata` say, under these settings."""
    vmi = a_vmi({"spec": spec or {}, "metadata": metadata or {}})
    return render(with_defaults(vmi, KubeVirtConfiguration()), a_config(**settings), blocks)


def spec_of(pod: Pod) -> PodSpec:
    assert pod.spec is not None
    return pod.spec


def compute(pod: Pod) -> Container:
    return spec_of(pod).containers[0]


def requests(pod: Pod) -> dict[str, int | str]:
    resources = compute(pod).resources
    return dict(resources.requests) if resources else {}


def limits(pod: Pod) -> dict[str, int | str]:
    resources = compute(pod).resources
    return dict(resources.limits) if resources else {}


def mounts(pod: Pod) -> dict[str, str]:
    """Volume by path, in the launcher's container."""
    return {each.mount_path: each.name for each in compute(pod).volume_mounts}


def words(pod: Pod) -> tuple[str, ...]:
    return compute(pod).command


def flag(pod: Pod, name: str) -> str:
    """The word that follows a flag."""
    command = words(pod)
    return command[command.index(name) + 1]
