"""The mission's example: its `vm.yaml`, and the pod that its `describe pod` shows.

Values that the cluster there chose (addresses, container ids, times) are left out, as is the host name
before the launcher's image.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.virt.defaults.instance import with_defaults
from kubevirt.virt.pod.config import PodConfig

UID = "c792fb7f-e459-4fa9-9e75-90beb4776f3e"
LAUNCHER = (
    "kubevirt/virt-launcher@sha256:cadfb07ba28197a656fdad4fd9c44b238172cdc02631094ca7e958d003ae6efe"
)
DISK = "kubevirt/cirros-registry-disk-demo"

VM: Mapping[str, Any] = {
    "apiVersion": "kubevirt.io/v1alpha3",
    "kind": "VirtualMachine",
    "metadata": {"name": "testvm"},
    "spec": {
        "running": False,
        "template": {
            "metadata": {"labels": {"kubevirt.io/size": "small", "kubevirt.io/domain": "testvm"}},
            "spec": {
                "domain": {
                    "devices": {
                        "disks": [
                            {"disk": {"bus": "virtio"}, "name": "rootfs"},
                            {"disk": {"bus": "virtio"}, "name": "cloudinit"},
                        ],
                        "interfaces": [{"name": "default", "masquerade": {}}],
                    },
                    "resources": {"requests": {"memory": "64M"}},
                },
                "networks": [{"name": "default", "pod": {}}],
                "volumes": [
                    {"name": "rootfs", "containerDisk": {"image": DISK}},
                    {"name": "cloudinit", "cloudInitNoCloud": {"userDataBase64": "SGkuXG4="}},
                ],
            },
        },
    },
}

_HELPER: Mapping[str, Any] = {
    "image": DISK,
    "command": ["/usr/bin/container-disk"],
    "resources": {
        "limits": {"cpu": "100m", "memory": "40M"},
        "requests": {"cpu": "10m", "memory": "1M"},
    },
    "volumeMounts": [
        {"name": "virt-bin-share-dir", "mountPath": "/usr/bin"},
        {
            "name": "container-disks",
            "mountPath": f"/var/run/kubevirt-ephemeral-disks/container-disk-data/{UID}",
        },
    ],
}

POD: Mapping[str, Any] = {
    "metadata": {
        "namespace": "default",
        "labels": {
            "kubevirt.io": "virt-launcher",
            "kubevirt.io/created-by": UID,
            "kubevirt.io/domain": "testvm",
            "kubevirt.io/size": "small",
        },
        "annotations": {
            "kubevirt.io/domain": "testvm",
            "traffic.sidecar.istio.io/kubevirtInterfaces": "k6t-eth0",
        },
    },
    "spec": {
        "initContainers": [
            {
                "name": "container-disk-binary",
                "image": LAUNCHER,
                "command": [
                    "/usr/bin/cp",
                    "/usr/bin/container-disk",
                    "/init/usr/bin/container-disk",
                ],
                "resources": _HELPER["resources"],
                "volumeMounts": [{"name": "virt-bin-share-dir", "mountPath": "/init/usr/bin"}],
            },
            {"name": "volumerootfs-init", "args": ["--no-op"], **_HELPER},
        ],
        "containers": [
            {
                "name": "compute",
                "image": LAUNCHER,
                "command": [
                    "/usr/bin/virt-launcher",
                    *("--qemu-timeout", "5m"),
                    *("--name", "testvm"),
                    *("--uid", UID),
                    *("--namespace", "default"),
                    *("--kubevirt-share-dir", "/var/run/kubevirt"),
                    *("--ephemeral-disk-dir", "/var/run/kubevirt-ephemeral-disks"),
                    *("--container-disk-dir", "/var/run/kubevirt/container-disks"),
                    *("--grace-period-seconds", "45"),
                    *("--hook-sidecars", "0"),
                    *("--less-pvc-space-toleration", "10"),
                    *("--ovmf-path", "/usr/share/OVMF"),
                    "--use-emulation",
                ],
                "resources": {
                    "limits": {"devices.kubevirt.io/tun": "1"},
                    "requests": {
                        "cpu": "100m",
                        "devices.kubevirt.io/tun": "1",
                        "memory": "242382920",
                    },
                },
                "volumeMounts": [
                    {
                        "name": "ephemeral-disks",
                        "mountPath": "/var/run/kubevirt-ephemeral-disks",
                    },
                    {
                        "name": "container-disks",
                        "mountPath": "/var/run/kubevirt/container-disks",
                    },
                    {"name": "sockets", "mountPath": "/var/run/kubevirt/sockets"},
                    {"name": "libvirt-runtime", "mountPath": "/var/run/libvirt"},
                ],
            },
            {
                "name": "volumerootfs",
                "args": [
                    "--copy-path",
                    f"/var/run/kubevirt-ephemeral-disks/container-disk-data/{UID}/disk_0",
                ],
                **_HELPER,
            },
        ],
        "volumes": [
            {"name": "sockets", "emptyDir": {}},
            {"name": "virt-bin-share-dir", "emptyDir": {}},
            {"name": "libvirt-runtime", "emptyDir": {}},
            {"name": "ephemeral-disks", "emptyDir": {}},
            {"name": "container-disks", "emptyDir": {}},
        ],
        "nodeSelector": {"kubevirt.io/schedulable": "true"},
        "tolerations": [
            {
                "key": f"node.kubernetes.io/{trouble}",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            }
            for trouble in ("not-ready", "unreachable")
        ],
    },
}


def instance() -> VirtualMachineInstance:
    """As virt-controller makes it of the machine, and admission fills it in."""
    template = VM["spec"]["template"]
    metadata = {"name": "testvm", "namespace": "default", "uid": UID, **template["metadata"]}
    vmi = msgspec.convert({"metadata": metadata, "spec": template["spec"]}, VirtualMachineInstance)
    return with_defaults(vmi, KubeVirtConfiguration())


def config() -> PodConfig:
    return PodConfig(launcher_image=LAUNCHER, emulation=True)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each value of a document under its path. Items of lists go by their name, as a server tells them apart."""
    match value:
        case dict() if value:
            for key, each in value.items():
                yield from leaves(each, f"{path}.{key}" if path else key)
        case list() | tuple() if value:
            for number, each in enumerate(value):
                yield from leaves(each, f"{path}[{_key(each, number)}]")
        case _:
            yield path, value


def _key(item: Any, number: int) -> str:
    if not isinstance(item, dict):
        return str(number)
    key = item.get("mountPath") or item.get("name") or item.get("key")
    return str(key or number)
