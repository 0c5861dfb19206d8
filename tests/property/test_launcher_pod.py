"""No instance can leave its place in the launcher's pod: what a user writes is a value, never a flag, a path of
ours, a variable or a privilege.
"""

import re
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.hostile import check_sentence, spoiled
from tests.unit.virt.domain_cases import SMALL_GUEST, merged

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.core.pod import Pod, PodSpec
from kubevirt.api.instance import VirtualMachineInstance, VirtualMachineInstanceSpec
from kubevirt.base.errors import UserError
from kubevirt.components.launcher import flags
from kubevirt.testing.random_objects import objects_of
from kubevirt.virt.defaults.instance import with_defaults
from kubevirt.virt.pod.config import PodConfig
from kubevirt.virt.pod.rendering import render

KEY = {"source": {"secret": {"secretName": "keys"}}, "propagationMethod": {"noCloud": {}}}
RICH: Any = merged(
    SMALL_GUEST,
    {
        "metadata": {"labels": {"app": "web"}, "annotations": {"example.com/team": "a"}},
        "spec": {
            "hostname": "web",
            "subdomain": "site",
            "serviceAccountName": "robot",
            "nodeSelector": {"disk": "fast"},
            "livenessProbe": {"exec": {"command": ["cat", "/ok"]}},
            "readinessProbe": {"httpGet": {"path": "/ok", "port": "web", "host": "a"}},
            "accessCredentials": [{"sshPublicKey": KEY}],
            "networks": [{"name": "default", "pod": {}}],
            "domain": {
                "cpu": {"model": "Skylake", "features": [{"name": "pcid"}]},
                "devices": {
                    "logSerialConsole": True,
                    "interfaces": [
                        {
                            "name": "default",
                            "masquerade": {},
                            "ports": [{"name": "web", "port": 80}],
                        }
                    ],
                },
                "firmware": {
                    "kernelBoot": {"container": {"image": "kernel:v1", "kernelPath": "/vmlinuz"}}
                },
            },
            "volumes": [
                {"name": "root", "containerDisk": {"image": "disk:v1", "imagePullSecret": "pull"}},
                {"name": "claim", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "below", "ephemeral": {"persistentVolumeClaim": {"claimName": "base"}}},
                {"name": "config", "configMap": {"name": "settings"}},
                {"name": "secret", "secret": {"secretName": "keys"}},
                {"name": "cloud", "cloudInitNoCloud": {"secretRef": {"name": "user"}}},
                {"name": "host", "hostDisk": {"path": "/data/a.img", "type": "Disk"}},
                {
                    "name": "facts",
                    "downwardAPI": {
                        "fields": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]
                    },
                },
            ],
        },
    },
)
FOLDERS = (
    *("/var/run/kubevirt", "/var/run/kubevirt-private", "/var/run/kubevirt-ephemeral-disks"),
    *("/var/run/kubevirt-image-volume", "/var/run/kubevirt-kernel-boot", "/var/run/libvirt"),
    *("/usr/bin", "/init/usr/bin"),
)
LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")

configs = st.builds(
    PodConfig,
    launcher_image=st.just("launcher:v1"),
    emulation=st.booleans(),
    image_volumes=st.booleans(),
    host_disks=st.just(True),  # else nothing of the rich one is ever rendered
)


def pod_of(data: Any, config: PodConfig) -> Pod | None:
    """The pod, or None if the instance was refused as it should be."""
    try:
        vmi = msgspec.convert(data, VirtualMachineInstance)
        return render(with_defaults(vmi, KubeVirtConfiguration()), config)
    except UserError as refusal:
        check_sentence(refusal)
        return None


def spec_of(pod: Pod) -> PodSpec:
    assert pod.spec is not None
    return pod.spec


def shape(command: tuple[str, ...]) -> tuple[str, ...]:
    """The words that are ours: the program, and each flag in its place."""
    return tuple(
        word if number == 0 or word.startswith("--") else "…" for number, word in enumerate(command)
    )


@given(spoiled(st.just(RICH)), configs)
@settings(max_examples=150, deadline=None)
def test_hostile_texts_become_no_flag_of_the_launcher(
    example: tuple[Any, tuple[str, ...]], config: PodConfig
) -> None:
    data, _ = example
    pod, clean = (
        pod_of(data, config),
        pod_of(RICH, config),
    )
    if pod is None or clean is None:
        return
    command = spec_of(pod).containers[0].command
    assert shape(command) == shape(spec_of(clean).containers[0].command)
    understood, _ = flags.settings(command[1:])
    meta = data["metadata"]
    assert (understood.name, understood.uid) == (meta["name"], meta["uid"])


@given(spoiled(st.just(RICH)), configs)
@settings(max_examples=150, deadline=None)
def test_hostile_texts_stay_in_their_places(
    example: tuple[Any, tuple[str, ...]], config: PodConfig
) -> None:
    data, _ = example
    pod = pod_of(data, config)
    if pod is None:
        return
    spec = spec_of(pod)
    every = (*spec.init_containers, *spec.containers)
    for container in every:
        assert LABEL.fullmatch(container.name)
        assert not container.env
        assert not container.env_from
        for mount in container.volume_mounts:
            assert ".." not in mount.mount_path.split("/")
            assert any(f"{mount.mount_path}/".startswith(f"{folder}/") for folder in FOLDERS)
            assert mount.sub_path is mount.sub_path_expr is None
        context = container.security_context
        assert context
        assert context.capabilities
        assert (context.privileged, context.capabilities.add) == (None, ())
    assert all(LABEL.fullmatch(volume.name) for volume in spec.volumes)
    assert len({each.name for each in every}) == len(every)
    assert [each.name for each in spec.volumes if each.host_path] == [
        data["spec"]["volumes"][6]["name"]
    ]
    assert pod.metadata.labels["kubevirt.io"] == "virt-launcher"
    assert pod.metadata.labels["kubevirt.io/created-by"] == data["metadata"]["uid"]


@given(spoiled(st.just(RICH)), configs)
@settings(max_examples=100, deadline=None)
def test_a_hostile_probe_is_the_guests_command_only(
    example: tuple[Any, tuple[str, ...]], config: PodConfig
) -> None:
    data, _ = example
    pod = pod_of(data, config)
    if pod is None:
        return
    probe = spec_of(pod).containers[0].liveness_probe
    assert probe
    assert probe.exec
    meta = data["metadata"]
    program, *arguments = data["spec"]["livenessProbe"]["exec"]["command"]
    assert probe.exec.command == (
        "virt-probe",
        *("--domainName", f"{meta['namespace'] or 'default'}_{meta['name']}"),
        *("--timeoutSeconds", "1"),
        *(f"--command={program}", "--", *arguments),
    )


@given(objects_of(VirtualMachineInstanceSpec), configs)
@settings(max_examples=150, deadline=None)
def test_any_instance_is_rendered_or_refused_with_a_sentence(spec: Any, config: PodConfig) -> None:
    pod_of(merged(SMALL_GUEST, {"spec": spec}), config)
