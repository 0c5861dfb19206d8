"""What a node says of itself."""

import json

from tests.pods.place import Place

from kubevirt.api import scheme


async def test_nodes_are_ready_and_say_what_they_have(place: Place) -> None:
    for name in place.home.nodes:
        node = await place.client.get(scheme.NODES.raw, name)
        conditions = {one["type"]: one for one in node["status"]["conditions"]}
        assert conditions["Ready"]["status"] == "True"
        assert conditions["Ready"]["reason"] == "KubeletReady"
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure"):
            assert conditions[kind]["status"] == "False"
        for amounts in (node["status"]["capacity"], node["status"]["allocatable"]):
            assert int(amounts["cpu"]) >= 1
            assert int(amounts["pods"]) >= 100
            assert {"memory", "ephemeral-storage"} <= set(amounts)
        addresses = {one["type"]: one["address"] for one in node["status"]["addresses"]}
        assert addresses["InternalIP"]
        assert addresses["Hostname"] == name
        labels = node["metadata"]["labels"]
        assert labels["kubernetes.io/hostname"] == name
        assert labels["kubernetes.io/os"] == "linux"
        assert labels["kubernetes.io/arch"]
        assert node["status"]["nodeInfo"]["bootID"]


async def test_a_node_shows_that_it_lives_by_its_lease(place: Place) -> None:
    words = ("get", "lease", place.home.node, "--namespace=kube-node-lease", "-o", "json")
    lease = json.loads((await place.kubectl(*words)).stdout)
    assert lease["spec"]["holderIdentity"] == place.home.node
    assert lease["spec"]["leaseDurationSeconds"] == 40
    assert lease["spec"]["renewTime"]
    assert lease["metadata"]["ownerReferences"][0]["kind"] == "Node"


async def test_kubectl_shows_the_nodes(place: Place, spare_node: str) -> None:
    shown = (await place.kubectl("get", "nodes", "--no-headers")).stdout
    assert [line.split()[:2] for line in shown.splitlines()] == [
        [name, "Ready"] for name in place.home.nodes
    ]
