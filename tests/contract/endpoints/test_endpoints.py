"""Who is said to be behind a Service, for pods in every condition."""

from tests.contract.endpoints.backing import Backing, Object, conditions, ports

from kubevirt.api.scheme import ENDPOINT_SLICES, PODS, SERVICES
from kubevirt.kube.patches import MergePatch

HTTP = {"name": "http", "port": 80, "targetPort": 8080}
READY, UNREADY = (True, True, False), (False, False, False)


async def test_pods_that_a_service_selects_are_its_endpoints(backing: Backing) -> None:
    service = await backing.service("web", HTTP)
    pod = await backing.pod("one", "web", "10.1.0.1")
    await backing.pod("other", "somebody-elses", "10.1.0.2")
    await backing.pod("unready", "web", "10.1.0.3", ready=False)

    expected = {"10.1.0.1": READY, "10.1.0.3": UNREADY}
    found = await backing.until_slices(
        "web", lambda slices: conditions(slices) == expected and len(slices) == 1
    )

    assert ports(found)["10.1.0.1"] == {("http", "TCP", 8080)}
    first = next(each for each in found[0]["endpoints"] if each["addresses"] == ["10.1.0.1"])
    assert first["nodeName"] == "nowhere"
    reference = {
        "kind": "Pod",
        "namespace": backing.namespace,
        "name": "one",
        "uid": pod["metadata"]["uid"],
    }
    assert first["targetRef"] == reference
    metadata = found[0]["metadata"]
    assert metadata["labels"] == {
        "of": "test",
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    assert metadata["ownerReferences"] == [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "name": "web",
            "uid": service["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    assert found[0]["addressType"] == "IPv4"
    assert metadata["name"].startswith("web-")
    assert len(metadata["name"]) == len("web-") + 5


async def test_a_pod_that_is_deleted_serves_until_it_is_gone(backing: Backing) -> None:
    await backing.service("web", HTTP)
    await backing.pod("one", "web", "10.1.0.1")
    await backing.until_slices("web", lambda slices: conditions(slices) == {"10.1.0.1": READY})

    await backing.client.delete(PODS, "one", backing.namespace)
    ending = {"10.1.0.1": (False, True, True)}
    await backing.until_slices("web", lambda slices: conditions(slices) == ending)
    await backing.until_endpoints("web", lambda found: not (found or {}).get("subsets"))

    await backing.client.delete(PODS, "one", backing.namespace, grace_period_s=0)
    await backing.until_slices("web", lambda slices: conditions(slices) == {})


async def test_a_pod_that_has_ended_or_has_no_address_is_behind_nothing(backing: Backing) -> None:
    await backing.service("web", HTTP)
    await backing.pod("waiting", "web")
    await backing.pod("one", "web", "10.1.0.1")
    await backing.until_slices("web", lambda slices: conditions(slices) == {"10.1.0.1": READY})

    await backing.status("one", "10.1.0.1", ready=False, phase="Succeeded")

    await backing.until_slices("web", lambda slices: conditions(slices) == {})


async def test_a_service_that_publishes_all_says_that_all_are_ready(backing: Backing) -> None:
    await backing.service("web", HTTP, publishNotReadyAddresses=True)
    await backing.pod("unready", "web", "10.1.0.3", ready=False)

    expected = {"10.1.0.3": (True, False, False)}
    await backing.until_slices("web", lambda slices: conditions(slices) == expected)
    await backing.until_endpoints(
        "web", lambda found: [each["ip"] for each in _addresses(found)] == ["10.1.0.3"]
    )


async def test_ports_by_name_may_differ_from_pod_to_pod(backing: Backing) -> None:
    await backing.service("web", {"name": "http", "port": 80, "targetPort": "serve"})
    for name, ip, number in (("one", "10.1.0.1", 8080), ("two", "10.1.0.2", 9090)):
        own = [{"name": "serve", "containerPort": number}]
        await backing.pod(name, "web", ip, ports=own)

    expected = {"10.1.0.1": {("http", "TCP", 8080)}, "10.1.0.2": {("http", "TCP", 9090)}}
    await backing.until_slices("web", lambda slices: ports(slices) == expected and len(slices) == 2)


async def test_several_ports_and_protocols_stand_in_one_slice(backing: Backing) -> None:
    await backing.service(
        "dns",
        {"name": "dns", "port": 53, "protocol": "UDP"},
        {"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 5353},
    )
    await backing.pod("one", "dns", "10.1.0.1")

    expected = {"10.1.0.1": {("dns", "UDP", 53), ("dns-tcp", "TCP", 5353)}}
    await backing.until_slices("dns", lambda slices: ports(slices) == expected and len(slices) == 1)


async def test_a_headless_service_knows_hostnames_of_its_subdomain(backing: Backing) -> None:
    await backing.service("db", HTTP, clusterIP="None")
    await backing.pod("one", "db", "10.1.0.1", hostname="db-0", subdomain="db")
    await backing.pod("two", "db", "10.1.0.2", hostname="db-1", subdomain="another")

    both = {"10.1.0.1": READY, "10.1.0.2": READY}
    found = await backing.until_slices(
        "db", lambda slices: conditions(slices) == both and len(slices) == 1
    )

    names = {each["addresses"][0]: each.get("hostname") for each in found[0]["endpoints"]}
    assert names == {"10.1.0.1": "db-0", "10.1.0.2": None}
    assert found[0]["metadata"]["labels"]["service.kubernetes.io/headless"] == ""


async def test_a_headless_service_without_ports_has_endpoints_all_the_same(
    backing: Backing,
) -> None:
    await backing.service("db", clusterIP="None")
    await backing.pod("one", "db", "10.1.0.1")

    found = await backing.until_slices(
        "db", lambda slices: conditions(slices) == {"10.1.0.1": READY}
    )

    assert ports(found) == {"10.1.0.1": set()}


async def test_a_service_that_nobody_is_behind_has_an_empty_slice(backing: Backing) -> None:
    await backing.service("web", HTTP)

    found = await backing.until_slices("web", lambda slices: len(slices) == 1)

    assert not found[0]["endpoints"]
    assert not found[0].get("ports")


async def test_a_service_without_a_selector_is_left_to_others(backing: Backing) -> None:
    body = {"metadata": {"name": "foreign"}, "spec": {"ports": [HTTP]}}
    await backing.client.create(SERVICES.raw, body, backing.namespace)
    await backing.service("web", HTTP)
    await backing.until_slices("web", lambda slices: len(slices) == 1)

    assert await backing.slices("foreign") == []


async def test_another_selector_finds_other_pods(backing: Backing) -> None:
    await backing.service("web", HTTP)
    await backing.pod("one", "web", "10.1.0.1")
    await backing.pod("two", "other", "10.1.0.2")
    await backing.until_slices("web", lambda slices: conditions(slices) == {"10.1.0.1": READY})

    patch = MergePatch({"spec": {"selector": {"app": "other"}}})
    await backing.client.patch(SERVICES.raw, "web", patch, backing.namespace)
    await backing.until_slices("web", lambda slices: conditions(slices) == {"10.1.0.2": READY})

    patch = MergePatch({"metadata": {"labels": {"app": "web"}}})
    await backing.client.patch(PODS.raw, "two", patch, backing.namespace)
    await backing.until_slices("web", lambda slices: conditions(slices) == {})


async def test_slices_and_endpoints_go_with_their_service(backing: Backing) -> None:
    await backing.service("web", HTTP)
    await backing.pod("one", "web", "10.1.0.1")
    await backing.until_slices("web", lambda slices: conditions(slices) == {"10.1.0.1": READY})
    await backing.until_endpoints("web", lambda found: bool(_addresses(found)))

    await backing.client.delete(SERVICES, "web", backing.namespace)

    await backing.until_slices("web", lambda slices: slices == [])
    await backing.until_endpoints("web", lambda found: found is None)


async def test_the_older_endpoints_say_the_same(backing: Backing) -> None:
    await backing.service("web", HTTP)
    await backing.pod("one", "web", "10.1.0.1")
    await backing.pod("unready", "web", "10.1.0.3", ready=False)

    def is_complete(found: Object | None) -> bool:
        subsets = (found or {}).get("subsets") or []
        return bool(subsets) and {"addresses", "notReadyAddresses"} <= set(subsets[0])

    found = await backing.until_endpoints("web", is_complete)
    assert found is not None
    subset = found["subsets"][0]
    assert [each["ip"] for each in subset["addresses"]] == ["10.1.0.1"]
    assert [each["ip"] for each in subset["notReadyAddresses"]] == ["10.1.0.3"]
    assert subset["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
    assert subset["addresses"][0]["targetRef"]["name"] == "one"
    assert subset["addresses"][0]["nodeName"] == "nowhere"


async def test_a_slice_that_somebody_removed_is_made_again(backing: Backing) -> None:
    await backing.service("web", HTTP)
    await backing.pod("one", "web", "10.1.0.1")
    expected = {"10.1.0.1": READY}
    found = await backing.until_slices(
        "web", lambda slices: conditions(slices) == expected and len(slices) == 1
    )

    await backing.client.delete(ENDPOINT_SLICES, found[0]["metadata"]["name"], backing.namespace)

    gone = found[0]["metadata"]["uid"]
    await backing.until_slices(
        "web",
        lambda slices: (
            conditions(slices) == expected
            and all(each["metadata"]["uid"] != gone for each in slices)
        ),
    )


def _addresses(found: Object | None) -> list[Object]:
    return [
        address
        for subset in (found or {}).get("subsets") or []
        for address in subset.get("addresses") or []
    ]
