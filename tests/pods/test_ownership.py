"""Pods that belong to others go with them."""

from tests.pods.objects import GATE, POLITE, Object, a_config_map, a_pod, when_told
from tests.pods.place import RESOURCES, Place


async def owned(place: Place, name: str, owner: str) -> Object:
    found = await place.client.get(RESOURCES["ConfigMap"], owner, place.namespace)
    reference = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": owner,
        "uid": found["metadata"]["uid"],
        "blockOwnerDeletion": True,
    }
    pod = a_pod(name, POLITE)
    pod["metadata"]["ownerReferences"] = [reference]
    return pod


async def test_a_pod_goes_with_its_owner(place: Place) -> None:
    await place.create(a_config_map("owner"))
    await place.run(await owned(place, "child", "owner"))
    await place.delete("owner", kind="ConfigMap")
    await place.until_gone("child")


async def test_a_pod_stays_when_it_is_orphaned(place: Place) -> None:
    await place.create(a_config_map("owner"))
    await place.run(await owned(place, "child", "owner"))
    await place.kubectl("delete", "configmap", "owner", "--cascade=orphan")
    await place.until("child", lambda pod: not pod["metadata"].get("ownerReferences"), "an orphan")
    assert "deletionTimestamp" not in (await place.pod("child"))["metadata"]


async def test_an_owner_waits_for_its_pods_if_asked_to(place: Place) -> None:
    await place.create(a_config_map("owner"))
    pod = await owned(place, "child", "owner")
    pod["spec"]["containers"][0]["command"][-1] = when_told(GATE)
    pod["spec"]["terminationGracePeriodSeconds"] = 600
    await place.run(pod)
    await place.until_listening("child")
    await place.kubectl("delete", "configmap", "owner", "--cascade=foreground", "--wait=false")
    await place.until("child", lambda pod: "deletionTimestamp" in pod["metadata"], "leaving")
    assert await place.is_there("owner", "ConfigMap")
    await place.open_gate("child")
    await place.until_gone("child")
    await place.until_gone("owner", "ConfigMap")


async def test_pods_go_with_their_namespace(place: Place) -> None:
    namespace = f"{place.namespace}-too"
    await place.kubectl("create", "namespace", namespace)
    inner = Place(place.client, place.home, namespace)
    await inner.until_furnished()
    await inner.run(a_pod("tenant", POLITE))
    said = await place.kubectl("delete", "namespace", namespace)
    assert "deleted" in said.stdout
    assert not await inner.is_there("tenant")
