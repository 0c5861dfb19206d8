"""What is told of a pod's life."""

from tests.pods.home import KUBERNETES
from tests.pods.objects import POLITE, a_pod
from tests.pods.place import Place


async def test_the_life_of_a_pod_is_told(place: Place) -> None:
    # A node that has just been made fetches the image first, and tells of that in other words.
    node = (await place.run(a_pod("before")))["spec"]["nodeName"]
    pod = await place.run(a_pod("told", POLITE, nodeSelector={"kubernetes.io/hostname": node}))
    place_and_name = f"{place.namespace}/told"
    expected = {
        "Scheduled": f"Successfully assigned {place_and_name} to {node}",
        "Pulled": f'Container image "{place.home.image}"',
        "Created": "Created container",
        "Started": "Started container",
    }
    for reason, text in expected.items():
        event = await place.until_event("told", reason, text)
        about = event["involvedObject"]
        assert event["type"] == "Normal"
        assert (about["kind"], about["uid"]) == ("Pod", pod["metadata"]["uid"])
        if reason != "Scheduled":
            assert about["fieldPath"] == "spec.containers{main}"
            assert event["source"] == {"component": "kubelet", "host": node}
            # A kubelet may try again what did not succeed at once; our node need not here.
            assert event["count"] == 1 or place.home.name == KUBERNETES
    await place.delete("told")
    await place.until_event("told", "Killing", "Stopping container main")


async def test_kubectl_describe_shows_what_happened(place: Place) -> None:
    await place.run(a_pod("shown", POLITE))
    await place.until_event("shown", "Started")
    said = (await place.kubectl("describe", "pod", "shown")).stdout
    for word in ("Scheduled", "Created", "Started", "Ready:          True", "IP:  "):
        assert word in said
