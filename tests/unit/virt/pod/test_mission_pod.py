"""The pod of the mission's machine, field by field: what differs is in the table, with the reason."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml
from tests.unit.virt.pod.mission import POD, UID, VM, config, instance, leaves

from kubevirt.components.launcher import flags
from kubevirt.virt.pod.rendering import render

EXAMPLES = Path(__file__).parents[4] / "examples"
ABSENT: Final = "absent"

NO_ROOT = "a launcher is never root, and has no capability: the pod fits a `restricted` namespace"
NOT_ROOT_FOLDERS = "the image's own folders are root's: who is not root needs some of its own"
BY_THE_SERVER = "not written by whoever creates the pod, but by the server's admission"
AS_UPSTREAM = "today's KubeVirt has it"
TO_FIND = "today's KubeVirt has it: Services and `virtctl expose` select by it"
PULLS = "the defaults of a VMI write down what the server would choose"

DIFFERENCES: Final[Mapping[str, tuple[Any, Any, str]]] = {
    # path: (the mission's, ours, why)
    "apiVersion": (ABSENT, "v1", "`describe` does not show it"),
    "kind": (ABSENT, "Pod", "`describe` does not show it"),
    "metadata.generateName": (
        ABSENT,
        "virt-launcher-testvm-",
        "`describe` shows the name made of it",
    ),
    "metadata.ownerReferences[testvm].apiVersion": (
        ABSENT,
        "kubevirt.io/v1",
        "`describe` shows kind and name",
    ),
    "metadata.ownerReferences[testvm].kind": (
        ABSENT,
        "VirtualMachineInstance",
        "shown as Controlled By",
    ),
    "metadata.ownerReferences[testvm].name": (ABSENT, "testvm", "shown as Controlled By"),
    "metadata.ownerReferences[testvm].uid": (ABSENT, UID, "`describe` shows kind and name"),
    "metadata.ownerReferences[testvm].controller": (ABSENT, True, "shown as Controlled By"),
    "metadata.ownerReferences[testvm].blockOwnerDeletion": (ABSENT, True, "not shown"),
    "metadata.labels.vm.kubevirt.io/name": (ABSENT, "testvm", TO_FIND),
    "metadata.labels.vmi.kubevirt.io/id": (ABSENT, "testvm", TO_FIND),
    "metadata.annotations.kubectl.kubernetes.io/default-container": (
        *(ABSENT, "compute"),
        "today's KubeVirt has it: `kubectl logs` and `exec` need no -c",
    ),
    "metadata.annotations.kubevirt.io/memory-overhead-bytes": (
        *(ABSENT, "169994312"),
        "today's KubeVirt has it: a metric shows what a guest costs",
    ),
    "spec.automountServiceAccountToken": (ABSENT, False, "launchers hold no token"),
    "spec.enableServiceLinks": (
        ABSENT,
        False,
        "variables for each Service are of no use to a launcher",
    ),
    "spec.hostname": (ABSENT, "testvm", "not shown; the guest's name is also the pod's, for DNS"),
    "spec.restartPolicy": (
        ABSENT,
        "Never",
        "not shown; a guest that ended is started by its machine",
    ),
    "spec.terminationGracePeriodSeconds": (
        ABSENT,
        60,
        "not shown; the launcher's 45 s and 15 to tell the end",
    ),
    "spec.readinessGates[0].conditionType": (
        *(ABSENT, "kubevirt.io/virtual-machine-unpaused"),
        f"{AS_UPSTREAM}: no Service sends to a guest that is paused",
    ),
    "spec.nodeSelector.kubernetes.io/arch": (ABSENT, "amd64", f"{AS_UPSTREAM}: clusters are mixed"),
    "spec.securityContext.fsGroup": (ABSENT, 107, NO_ROOT),
    "spec.securityContext.runAsGroup": (ABSENT, 107, NO_ROOT),
    "spec.securityContext.runAsNonRoot": (ABSENT, True, NO_ROOT),
    "spec.securityContext.runAsUser": (ABSENT, 107, NO_ROOT),
    "spec.securityContext.seccompProfile.type": (ABSENT, "RuntimeDefault", NO_ROOT),
    **{
        f"spec.{container}.securityContext.{field}": (ABSENT, value, NO_ROOT)
        for container in (
            "initContainers[container-disk-binary]",
            "initContainers[volumerootfs-init]",
            "containers[compute]",
            "containers[volumerootfs]",
        )
        for field, value in (("allowPrivilegeEscalation", False), ("capabilities.drop[0]", "ALL"))
    },
    **{
        f"spec.{container}.imagePullPolicy": (ABSENT, "Always", PULLS)
        for container in ("initContainers[volumerootfs-init]", "containers[volumerootfs]")
    },
    "spec.containers[compute].terminationMessagePolicy": (
        *(ABSENT, "FallbackToLogsOnError"),
        f"{AS_UPSTREAM}: why a launcher failed is in the pod's status",
    ),
    "spec.containers[compute].resources.requests.devices.kubevirt.io/tun": (
        "1",
        ABSENT,
        BY_THE_SERVER,
    ),
    "spec.containers[compute].resources.requests.memory": (
        *("242382920", "233994312"),
        "our own overhead, measured: 162 MiB and a 512th of the guest's memory instead of 170",
    ),
    **{
        f"spec.containers[compute].volumeMounts[{path}].{field}": (ABSENT, value, NOT_ROOT_FOLDERS)
        for name, path in (
            ("private", "/var/run/kubevirt-private"),
            ("public", "/var/run/kubevirt"),
        )
        for field, value in (("name", name), ("mountPath", path))
    },
    "spec.containers[compute].volumeMounts[/var/run/kubevirt/container-disks].mountPropagation": (
        *(ABSENT, "HostToContainer"),
        "not shown; the launcher must see what virt-handler mounts later",
    ),
    **{
        f"spec.volumes[{name}].{field}": (ABSENT, value, NOT_ROOT_FOLDERS)
        for name in ("private", "public")
        for field, value in (("name", name), ("emptyDir", {}))
    },
    **{
        f"spec.tolerations[node.kubernetes.io/{trouble}].{field}": (value, ABSENT, BY_THE_SERVER)
        for trouble in ("not-ready", "unreachable")
        for field, value in (
            ("key", f"node.kubernetes.io/{trouble}"),
            ("operator", "Exists"),
            ("effect", "NoExecute"),
            ("tolerationSeconds", 300),
        )
    },
}


def test_the_pod_differs_from_the_missions_only_as_the_table_says() -> None:
    mission = dict(leaves(POD))
    ours = dict(leaves(msgspec.to_builtins(render(instance(), config()))))
    found = {
        path: (mission.get(path, ABSENT), ours.get(path, ABSENT))
        for path in mission | ours
        if mission.get(path, ABSENT) != ours.get(path, ABSENT)
    }
    assert found == {path: (theirs, mine) for path, (theirs, mine, _) in DIFFERENCES.items()}


def test_the_first_example_is_the_missions_machine() -> None:
    assert yaml.safe_load((EXAMPLES / "vm.yaml").read_text()) == VM


def test_every_difference_has_a_reason() -> None:
    assert all(reason for _, _, reason in DIFFERENCES.values())


def test_the_containers_and_their_words_are_in_the_missions_order() -> None:
    ours = msgspec.to_builtins(render(instance(), config()))["spec"]
    for kind in ("initContainers", "containers"):
        mission = POD["spec"][kind]
        assert [each["name"] for each in ours[kind]] == [each["name"] for each in mission]
        assert [list(each["command"]) for each in ours[kind]] == [
            each["command"] for each in mission
        ]


def test_our_launcher_understands_the_command() -> None:
    pod = render(instance(), config())
    assert pod.spec
    settings, grace_s = flags.settings(pod.spec.containers[0].command[1:])
    assert (settings.name, settings.namespace, settings.uid) == ("testvm", "default", UID)
    assert settings.layout.container_disks == "/var/run/kubevirt/container-disks"
    assert grace_s == 45
    assert not settings.kvm
