"""Which node a pod comes to, and what a user reads when none takes it."""

import pytest
from tests.pods.home import SPARE
from tests.pods.objects import Object, a_pod, phase
from tests.pods.place import Place, unschedulable

TOLERATED = [{"key": SPARE, "operator": "Exists"}]


async def refused(place: Place, pod: Object) -> str:
    """Why no node takes a pod."""
    await place.create(pod)
    name = pod["metadata"]["name"]
    found = await place.until(name, lambda pod: bool(unschedulable(pod)), "unschedulable")
    assert phase(found) == "Pending"
    message = unschedulable(found)
    await place.until_event(name, "FailedScheduling", message[:40])
    return message


@pytest.mark.usefixtures("spare_node")  # Another test may keep pods away from it.
async def test_a_pod_that_wants_too_much_stays_and_is_told_why(place: Place) -> None:
    container = {"resources": {"requests": {"cpu": "1000"}}}
    message = await refused(place, a_pod("giant", container=container, tolerations=TOLERATED))
    count = len(place.home.nodes)
    assert message.startswith(f"0/{count} nodes are available: {count} Insufficient cpu.")


async def test_a_resource_that_no_node_has_is_named(place: Place) -> None:
    container = {"resources": {"limits": {"example.org/lamp": "1"}}}
    message = await refused(place, a_pod("dark", container=container, tolerations=TOLERATED))
    assert "Insufficient example.org/lamp" in message


async def test_a_node_selector_chooses_the_node(place: Place, spare_node: str) -> None:
    selector = {"kubernetes.io/hostname": spare_node}
    pod = await place.run(a_pod("choosy", nodeSelector=selector, tolerations=TOLERATED))
    assert pod["spec"]["nodeName"] == spare_node


async def test_a_selector_that_no_node_matches_is_told(place: Place) -> None:
    message = await refused(
        place,
        a_pod("dreamer", nodeSelector={"example.org/where": "nowhere"}, tolerations=TOLERATED),
    )
    assert "node(s) didn't match Pod's node affinity/selector" in message


async def test_node_affinity_chooses_the_node(place: Place, spare_node: str) -> None:
    expression = {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": [place.home.node]}
    term = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}
    pod = await place.run(a_pod("choosy", affinity=affinity, tolerations=TOLERATED))
    assert pod["spec"]["nodeName"] == spare_node


async def test_a_taint_keeps_pods_away_that_do_not_tolerate_it(
    place: Place, spare_node: str
) -> None:
    selector = {"kubernetes.io/hostname": spare_node}
    message = await refused(place, a_pod("shy", nodeSelector=selector))
    assert "1 node(s) had untolerated taint(s)" in message


async def test_pods_that_do_not_bear_each_other_are_kept_apart(
    place: Place, spare_node: str
) -> None:
    term = {
        "labelSelector": {"matchLabels": {"app": "rival"}},
        "topologyKey": "kubernetes.io/hostname",
    }
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}

    def rival(name: str) -> Object:
        metadata = {"name": name, "labels": {"app": "rival"}}
        return a_pod(name, affinity=affinity, tolerations=TOLERATED, metadata=metadata)

    one, two = await place.run(rival("one")), await place.run(rival("two"))
    assert one["spec"]["nodeName"] != two["spec"]["nodeName"]
    message = await refused(place, rival("three"))
    assert "node(s) didn't match pod anti-affinity rules" in message


async def test_a_pod_that_names_its_node_needs_no_scheduler(place: Place) -> None:
    pod = await place.run(a_pod("direct", nodeName=place.home.node))
    assert pod["spec"]["nodeName"] == place.home.node


async def test_a_pod_of_another_scheduler_is_left_alone(place: Place) -> None:
    await place.create(a_pod("foreign", schedulerName="somebody-else"))
    await place.run(a_pod("ours"))
    pod = await place.pod("foreign")
    assert "nodeName" not in pod["spec"]
    assert unschedulable(pod) == ""


async def test_a_pod_on_another_node_reaches_the_rest(place: Place, spare_node: str) -> None:
    selector = {"kubernetes.io/hostname": spare_node}
    server = a_pod(
        "far",
        "mkdir /tmp/www; echo far >/tmp/www/index.html; exec busybox httpd -f -p 80 -h /tmp/www",
        nodeSelector=selector,
        tolerations=TOLERATED,
    )
    pod = await place.run(server)
    await place.run(a_pod("near"))
    script = f"timeout 3 busybox wget -q -O - http://{pod['status']['podIP']}"
    await place.eventually("near", script, lambda said: said == "far\n")
