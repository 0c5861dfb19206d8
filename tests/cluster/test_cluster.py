"""A whole cluster of two nodes: what a pod can do on it."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.cluster.support import LIMIT_S, TOOLS, Provider, pod, service, tools_image

from clusterup import images, waiting

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1200)]


def web(namespace: str, name: str, node: str) -> dict[str, object]:
    """A pod on a node that answers HTTP with its own name."""
    return pod(namespace, name, f"exec probe serve :80 {name}", nodeName=node)


def client(namespace: str, name: str, node: str) -> dict[str, object]:
    return pod(namespace, name, "exec sleep 100000", nodeName=node)


async def test_both_nodes_are_ready_and_of_the_providers_version(two_nodes: Provider) -> None:
    listing = json.loads(await two_nodes.kubectl("get", "nodes", "-o", "json"))
    seen = {
        item["metadata"]["name"]: (
            item["status"]["nodeInfo"]["kubeletVersion"].rpartition(".")[0],
            [c["status"] for c in item["status"]["conditions"] if c["type"] == "Ready"],
        )
        for item in listing["items"]
    }
    assert seen == {"node01": ("v1.34", ["True"]), "node02": ("v1.34", ["True"])}


async def test_a_pod_of_a_pushed_image_runs_logs_and_can_be_entered(
    two_nodes: Provider, namespace: str
) -> None:
    await two_nodes.apply(pod(namespace, "greeter", "echo hello from $HOSTNAME; exec sleep 100000"))
    await two_nodes.until_ready(namespace, "greeter")
    await two_nodes.until_logged(namespace, "greeter", "hello from greeter\n")
    assert await two_nodes.inside(namespace, "greeter", "hostname") == "greeter\n"


@pytest.mark.parametrize("asking", ["node01", "node02"])
async def test_a_service_is_reached_by_its_dns_name_from_both_nodes(
    two_nodes: Provider, namespace: str, asking: str
) -> None:
    await two_nodes.apply(
        web(namespace, "web", "node01"),
        service(namespace, "web"),
        client(namespace, "client", asking),
    )
    await two_nodes.until_ready(namespace, "web", "client")
    ask = f"probe get http://web.{namespace}.svc.cluster.local"
    await two_nodes.eventually(namespace, "client", ask, "web")
    # The short name too, which goes through the search list that kubelet writes.
    await two_nodes.eventually(namespace, "client", "probe get http://web", "web")


async def test_a_pod_reaches_itself_through_its_service(
    two_nodes: Provider, namespace: str
) -> None:
    await two_nodes.apply(web(namespace, "web", "node01"), service(namespace, "web"))
    await two_nodes.until_ready(namespace, "web")
    await two_nodes.eventually(namespace, "web", "probe get http://web", "web")


async def test_a_name_outside_the_cluster_is_refused_at_once(
    two_nodes: Provider, namespace: str
) -> None:
    await two_nodes.apply(client(namespace, "client", "node01"))
    await two_nodes.until_ready(namespace, "client")
    ask = "nslookup -type=a no.such.example. 2>&1 || true"
    await two_nodes.eventually(namespace, "client", ask, "NXDOMAIN")


async def test_the_host_reaches_a_service_through_the_port_of_either_node(
    two_nodes: Provider, namespace: str, facts: dict[str, Any]
) -> None:
    await two_nodes.apply(
        web(namespace, "web", "node01"), service(namespace, "web", type="NodePort")
    )
    await two_nodes.until_ready(namespace, "web")
    port = await two_nodes.kubectl(
        *("get", "service", "web", "-n", namespace, "-o", "jsonpath={.spec.ports[0].nodePort}")
    )
    network = facts["network"]
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10)) as session:

        async def answers(address: str) -> bool:
            try:
                async with session.get(f"http://{address}:{port}/") as answer:
                    return await answer.text() == "web\n"
            except (aiohttp.ClientConnectionError, TimeoutError):
                return False  # kube-proxy hears of a service when it does

        for address in (f"10.{network}.0.11", f"10.{network}.0.12"):
            await waiting.until(partial(answers, address), limit_s=LIMIT_S, what=f"port {port}")


async def test_the_api_server_reaches_pods_as_webhooks_and_aggregated_apis_need(
    two_nodes: Provider, namespace: str
) -> None:
    await two_nodes.apply(web(namespace, "web", "node02"), service(namespace, "web"))
    await two_nodes.until_ready(namespace, "web")
    path = f"/api/v1/namespaces/{namespace}/services/http:web:80/proxy/"

    async def answers() -> bool:
        # A pod is ready a moment before its service knows it.
        return (await two_nodes.run("kubectl.sh", "get", "--raw", path)).stdout == "web\n"

    await waiting.until(answers, limit_s=LIMIT_S, what="the API server reaches the pod")


async def test_a_pod_speaks_to_the_api_server_with_its_service_account(
    two_nodes: Provider, namespace: str
) -> None:
    await two_nodes.apply(client(namespace, "client", "node02"))
    await two_nodes.until_ready(namespace, "client")
    folder = "/var/run/secrets/kubernetes.io/serviceaccount"
    script = (
        "probe get https://kubernetes.default.svc/version "
        f'"Authorization: Bearer $(cat {folder}/token)"'
    )
    await two_nodes.eventually(namespace, "client", script, "gitVersion")


@pytest.mark.parametrize(
    "reference", ["docker.io/kubevirt/tools:v1", "registry:5000/kubevirt/tools:devel", "tools"]
)
async def test_an_image_of_any_registry_comes_from_the_mirror(
    two_nodes: Provider, namespace: str, facts: dict[str, Any], reference: str
) -> None:
    await images.push(facts["registry"], reference, tools_image())
    await two_nodes.apply(
        pod(namespace, "guest", "exec sleep 100000", container={"image": reference})
    )
    await two_nodes.until_ready(namespace, "guest")


async def test_an_image_can_be_a_volume(two_nodes: Provider, namespace: str) -> None:
    await two_nodes.apply(
        pod(
            namespace,
            "reader",
            "cat /image/disk/disk.img; exec sleep 100000",
            container={"volumeMounts": [{"name": "disk", "mountPath": "/image"}]},
            volumes=[{"name": "disk", "image": {"reference": TOOLS}}],
        )
    )
    await two_nodes.until_ready(namespace, "reader")
    await two_nodes.until_logged(namespace, "reader", "a disk\n")


async def test_a_mount_made_in_a_privileged_pod_reaches_another_pod_of_its_node_only(
    two_nodes: Provider, namespace: str
) -> None:
    path = f"/var/lib/{namespace}"
    volume = {"name": "shared", "hostPath": {"path": path, "type": "DirectoryOrCreate"}}

    def sharing(name: str, node: str, script: str, propagation: str) -> dict[str, object]:
        mount = {"name": "shared", "mountPath": "/shared", "mountPropagation": propagation}
        return pod(
            namespace,
            name,
            script,
            nodeName=node,
            volumes=[volume],
            container={"volumeMounts": [mount], "securityContext": {"privileged": True}},
        )

    look = "exec sleep 100000"
    mount = "mount -t tmpfs made-in-a-pod /shared && echo seen >/shared/file && exec sleep 100000"
    await two_nodes.apply(
        sharing("same", "node01", look, "HostToContainer"),
        sharing("other", "node02", look, "HostToContainer"),
    )
    await two_nodes.until_ready(namespace, "same", "other")
    await two_nodes.apply(sharing("maker", "node01", mount, "Bidirectional"))
    await two_nodes.until_ready(namespace, "maker")
    await two_nodes.eventually(namespace, "same", "cat /shared/file", "seen")
    assert await two_nodes.inside(namespace, "other", "ls /shared") == ""


async def test_a_node_can_be_entered_and_its_logs_read(two_nodes: Provider) -> None:
    listing = await two_nodes.run("cli.sh", "ls")
    assert [line.split()[0] for line in listing.stdout.splitlines()] == [
        "control-plane",
        "node01",
        "node02",
    ]
    assert (
        await two_nodes.run("cli.sh", "ssh", "node02", "cat", "/etc/hostname")
    ).stdout == "node02\n"
    assert (await two_nodes.run("cli.sh", "ssh", "node02", "--", "hostname")).stdout == "node02\n"
    said = await two_nodes.run("cli.sh", "logs", "node01", "kubelet")
    assert "Kubelet version" in said.stdout
    assert "kube-apiserver" in (await two_nodes.run("cli.sh", "logs")).stdout
    missing = await two_nodes.run("cli.sh", "ssh", "node07")
    assert missing.code == 1
    assert "there is no machine node07" in missing.stderr


def test_requests_are_in_the_audit_log(namespace: str, facts: dict[str, Any]) -> None:
    assert namespace in Path(facts["audit_log"]).read_text()


async def test_a_second_cluster_up_says_that_it_is_up_and_changes_nothing(
    two_nodes: Provider,
) -> None:
    words = ("get", "ns", "kube-system", "-o", "jsonpath={.metadata.uid}")
    uid = await two_nodes.kubectl(*words)
    again = await two_nodes.run("up.sh")
    assert again.code == 3
    assert "is up already with 2 node" in again.stderr
    assert "make cluster-down" in again.stderr
    assert await two_nodes.kubectl(*words) == uid
