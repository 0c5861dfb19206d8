"""What a node says of itself."""

from tests.pods.objects import is_true
from tests.pods.place import Place


async def test_nodes_are_ready_and_say_what_they_have(place: Place) -> None:
    for name in place.home.nodes:
        node = await place.until(name, lambda node: is_true(node, "Ready"), "Ready", kind="Node")
        conditions = {one["type"]: one for one in node["status"]["conditions"]}
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
    leases = Place(place.client, place.home, "kube-node-lease")
    # A kubelet that does not see its own node yet makes none; it looks again ten seconds later.
    lease = await leases.until(place.home.node, lambda _: True, "there", kind="Lease")
    assert lease["spec"]["holderIdentity"] == place.home.node
    assert lease["spec"]["leaseDurationSeconds"] == 40
    assert lease["spec"]["renewTime"]
    assert lease["metadata"]["ownerReferences"][0]["kind"] == "Node"


async def test_kubectl_shows_the_nodes(place: Place, spare_node: str) -> None:
    shown = (await place.kubectl("get", "nodes", "--no-headers")).stdout
    assert [line.split()[:2] for line in shown.splitlines()] == [
        [name, "Ready"] for name in place.home.nodes
    ]
