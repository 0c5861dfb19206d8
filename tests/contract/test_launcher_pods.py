"""Pods of launchers, as they are created: a server takes them to the last field. Nothing is stored: dry runs."""

from typing import Any

import msgspec
import pytest
from tests.unit.virt.domain_cases import SMALL_GUEST, merged
from tests.unit.virt.pod import mission

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.core.pod import Pod
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.kube.client import Client
from kubevirt.virt.defaults.instance import with_defaults
from kubevirt.virt.pod.config import KVM, TUN, VHOST_NET, PodConfig
from kubevirt.virt.pod.rendering import render

STRICT = {"dryRun": "All", "fieldValidation": "Strict"}


def _secret(name: str) -> dict[str, Any]:
    return {"source": {"secret": {"secretName": name}}, "propagationMethod": {"noCloud": {}}}


SPECS: dict[str, dict[str, Any]] = {
    "claims and their like": {
        "volumes": [
            {"name": "file", "persistentVolumeClaim": {"claimName": "a"}},
            {"name": "block", "persistentVolumeClaim": {"claimName": "b"}},
            {"name": "read", "persistentVolumeClaim": {"claimName": "c", "readOnly": True}},
            {"name": "filled", "dataVolume": {"name": "d"}},
            {"name": "base", "ephemeral": {"persistentVolumeClaim": {"claimName": "e"}}},
            {"name": "scratch", "emptyDisk": {"capacity": "1Gi"}},
            {"name": "node", "hostDisk": {"path": "/data/a.img", "type": "Disk"}},
        ]
    },
    "objects": {
        "accessCredentials": [
            {"sshPublicKey": _secret("my.keys")},
            {"sshPublicKey": _secret("x" * 200)},
        ],
        "volumes": [
            {"name": "settings", "configMap": {"name": "a", "optional": True}},
            {"name": "keys", "secret": {"secretName": "b"}},
            {"name": "answers", "sysprep": {"secret": {"name": "c"}}},
            {"name": "token", "serviceAccount": {"serviceAccountName": "default"}},
            {
                "name": "cloud",
                "cloudInitNoCloud": {
                    "secretRef": {"name": "d"},
                    "networkDataSecretRef": {"name": "e"},
                },
            },
            {
                "name": "facts",
                "downwardAPI": {
                    "fields": [
                        {"path": "name", "fieldRef": {"fieldPath": "metadata.name"}},
                        {
                            "path": "memory",
                            "resourceFieldRef": {
                                "containerName": "compute",
                                "resource": "requests.memory",
                            },
                        },
                    ]
                },
            },
        ],
    },
    "container disks of long names, and a kernel": {
        "domain": {
            "firmware": {"kernelBoot": {"container": {"image": "k:v1", "kernelPath": "/vmlinuz"}}}
        },
        "volumes": [
            {"name": "x" * 63, "containerDisk": {"image": "a:v1", "imagePullSecret": "pull"}},
            {"name": "b", "containerDisk": {"image": "b:v1", "imagePullPolicy": "Never"}},
        ],
    },
    "nodes and names": {
        "hostname": "web",
        "subdomain": "site",
        "dnsPolicy": "None",
        "dnsConfig": {"nameservers": ["192.0.2.1"]},
        "schedulerName": "mine",
        "terminationGracePeriodSeconds": 0,
        "nodeSelector": {"disk": "fast"},
        "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}],
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
        ],
        "domain": {
            "cpu": {
                "model": "Skylake-Server",
                "features": [{"name": "pcid"}, {"name": "mpx", "policy": "forbid"}],
            }
        },
    },
    "probes, ports and a console's log": {
        "livenessProbe": {"exec": {"command": ["cat", "/ok"]}, "timeoutSeconds": 5},
        "readinessProbe": {"httpGet": {"path": "/ok", "port": 80}},
        "networks": [{"name": "default", "pod": {}}],
        "domain": {
            "devices": {
                "logSerialConsole": True,
                "interfaces": [
                    {"name": "default", "masquerade": {}, "ports": [{"name": "web", "port": 80}]}
                ],
            }
        },
    },
    "huge pages": {"domain": {"memory": {"guest": "64Mi", "hugepages": {"pageSize": "2Mi"}}}},
    "dedicated CPUs": {"domain": {"cpu": {"cores": 2, "dedicatedCpuPlacement": True}}},
    "limits": {
        "domain": {
            "resources": {"limits": {"memory": "64M", "cpu": "1"}, "requests": {"cpu": "1m"}}
        }
    },
}


def a_pod(spec: dict[str, Any], **settings: Any) -> Pod:
    vmi = msgspec.convert(merged(SMALL_GUEST, {"spec": spec}), VirtualMachineInstance)
    config = PodConfig(
        launcher_image="launcher:v1",
        devices=frozenset({KVM, TUN, VHOST_NET}),
        host_disks=True,
        **settings,
    )
    return render(with_defaults(vmi, KubeVirtConfiguration()), config, frozenset({"block"}))


async def created(client: Client, pod: Pod, namespace: str = "default") -> dict[str, Any]:
    sent = msgspec.to_builtins(pod, str_keys=True)
    sent["metadata"]["namespace"] = namespace
    path = f"/api/v1/namespaces/{namespace}/pods"
    answer = await client.raw("POST", path, sent, params=STRICT)
    return msgspec.json.decode(answer, type=dict[str, Any])


async def test_the_missions_pod_is_taken(client: Client, an_account: None) -> None:
    made = await created(client, render(mission.instance(), mission.config()))
    assert made["metadata"]["name"].startswith("virt-launcher-testvm-")
    requests = made["spec"]["containers"][0]["resources"]["requests"]
    assert requests["devices.kubevirt.io/tun"] == "1"
    troubles = {each["key"] for each in made["spec"]["tolerations"]}
    assert troubles == {f"node.kubernetes.io/{each}" for each in ("not-ready", "unreachable")}


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("images", ["helpers", "image volumes"])
async def test_a_launchers_pod_is_taken_with_all_that_it_has(
    client: Client, an_account: None, name: str, images: str
) -> None:
    sent = a_pod(SPECS[name], image_volumes=images == "image volumes")
    made = msgspec.convert(await created(client, sent), Pod)
    assert sent.spec
    assert made.spec
    assert [each.name for each in made.spec.containers] == [
        each.name for each in sent.spec.containers
    ]
    assert _images(made) == _images(sent)


def _images(pod: Pod) -> dict[str, str | None]:
    """Where image volumes are off, a server drops what makes them such."""
    volumes = pod.spec.volumes if pod.spec else ()
    return {each.name: each.image.reference for each in volumes if each.image}


@pytest.mark.parametrize("images", ["helpers", "image volumes"])
async def test_a_launchers_pod_is_taken_where_only_restricted_pods_are(
    client: Client, namespace: str, images: str
) -> None:
    label = {"pod-security.kubernetes.io/enforce": "restricted"}
    place = f"/api/v1/namespaces/{namespace}"
    body = {"metadata": {"labels": label}}
    await client.raw("PATCH", place, body, content_type="application/merge-patch+json")
    spec = {"volumes": [{"name": "root", "containerDisk": {"image": "disk:v1"}}]}
    await created(client, a_pod(spec, image_volumes=images == "image volumes"), namespace)
