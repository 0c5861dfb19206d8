"""Services: one name and one address for pods that come and go."""

import json

from tests.pods.home import SPARE
from tests.pods.objects import Object, a_pod, a_service, a_web_server
from tests.pods.place import LIMIT_S, Place
from tests.pods.programs import udp_ask, udp_echo

from clusterup import waiting


def get(url: str) -> str:
    return f"timeout 3 busybox wget -q -O - {url} 2>&1"


def look_up(name: str, kind: str = "a") -> str:
    return f"timeout 5 busybox nslookup -type={kind} {name} 2>&1"


async def endpoints_of(place: Place, service: str) -> list[Object]:
    selector = f"kubernetes.io/service-name={service}"
    words = ("get", "endpointslices", "-l", selector, "-o", "json")
    listed = json.loads((await place.kubectl(*words)).stdout)
    return [one for item in listed["items"] for one in item["endpoints"] or ()]


async def until_ready_are(place: Place, service: str, expected: list[bool]) -> None:
    """Until the endpoints of a service are ready or not as expected: who counts them and who refuses for
    them hear of a pod at different times.
    """

    async def are_they() -> bool:
        found = await endpoints_of(place, service)
        return [one["conditions"]["ready"] for one in found] == expected

    await waiting.until(are_they, limit_s=LIMIT_S, what=f"{service}: {expected}", every_s=0.3)


async def test_a_service_is_reached_by_its_names(place: Place) -> None:
    await place.create(a_service("web"))
    await place.run(a_web_server("web"))
    await place.run(a_pod("client"))
    await place.eventually("client", get("http://web"), lambda said: said == "web\n")
    for name in (f"web.{place.namespace}", f"web.{place.namespace}.svc.cluster.local"):
        await place.eventually("client", get(f"http://{name}"), lambda said: said == "web\n")


async def test_a_service_maps_its_port_to_a_named_one_of_the_pod(place: Place) -> None:
    ports = [{"port": 8000, "targetPort": "web"}]
    await place.create(a_service("web", ports=ports))
    await place.run(a_web_server("web", port=8080))
    await place.run(a_pod("client"))
    await place.eventually("client", get("http://web:8000"), lambda said: said == "web\n")


async def test_a_pod_reaches_itself_through_its_service(place: Place) -> None:
    await place.create(a_service("web"))
    await place.run(a_web_server("web"))
    await place.eventually("web", get("http://web"), lambda said: said == "web\n")


async def test_a_service_spreads_over_its_pods(place: Place) -> None:
    await place.create(a_service("web"))
    for name in ("one", "two"):
        metadata = {"name": name, "labels": {"app": "web"}}
        await place.run(a_web_server(name, metadata=metadata))
    await place.run(a_pod("client"))
    many = f"for n in 1 2 3 4 5 6 7 8 9 10 11 12; do {get('http://web')}; done | sort -u"
    await place.eventually("client", many, lambda said: said == "one\ntwo\n")


async def test_a_service_without_pods_refuses_at_once(place: Place) -> None:
    await place.create(a_service("empty"))
    await place.run(a_pod("client"))
    script = get("http://empty")
    await place.eventually("client", script, lambda said: "Connection refused" in said)


async def test_a_service_follows_the_readiness_of_its_pods(place: Place) -> None:
    await place.create(a_service("web"))
    ready = {"exec": {"command": ["test", "-e", "/tmp/ready"]}, "periodSeconds": 1}
    server = a_web_server("web", container={"readinessProbe": ready | {"failureThreshold": 1}})
    await place.create(server)
    await place.until_running("web")
    await place.run(a_pod("client"))
    script = get("http://web")
    await until_ready_are(place, "web", [False])
    await place.eventually("client", script, lambda said: "refused" in said)
    await place.sh("web", "touch /tmp/ready")
    await place.until_ready("web")
    await place.eventually("client", script, lambda said: said == "web\n")
    await until_ready_are(place, "web", [True])
    await place.sh("web", "rm /tmp/ready")
    await place.eventually("client", script, lambda said: "refused" in said)


async def test_a_service_forgets_a_pod_that_is_gone(place: Place) -> None:
    await place.create(a_service("web"))
    pod = await place.run(a_web_server("web"))
    await place.run(a_pod("client"))
    await place.eventually("client", get("http://web"), lambda said: said == "web\n")
    (endpoint,) = await endpoints_of(place, "web")
    assert endpoint["addresses"] == [pod["status"]["podIP"]]
    assert endpoint["targetRef"]["name"] == "web"
    assert endpoint["targetRef"]["uid"] == pod["metadata"]["uid"]
    assert endpoint["nodeName"] == pod["spec"]["nodeName"]
    await place.delete("web")
    await place.until_gone("web")
    await place.eventually("client", get("http://web"), lambda said: "refused" in said)
    await until_ready_are(place, "web", [])


async def test_a_headless_service_is_the_addresses_of_its_pods(place: Place) -> None:
    await place.create(a_service("family", app="member", clusterIP="None"))
    addresses = set()
    for name in ("one", "two"):
        pod = await place.run(a_pod(name, metadata={"name": name, "labels": {"app": "member"}}))
        addresses.add(pod["status"]["podIP"])
    script = look_up(f"family.{place.namespace}.svc.cluster.local.")
    await place.eventually("one", script, lambda said: all(one in said for one in addresses))


async def test_a_headless_service_may_name_pods_that_are_not_ready(place: Place) -> None:
    never = {"exec": {"command": ["false"]}, "periodSeconds": 1}
    for name, published in (("shy", False), ("open", True)):
        headless = a_service(
            name, app="member", clusterIP="None", publishNotReadyAddresses=published
        )
        await place.create(headless)
    metadata = {"name": "one", "labels": {"app": "member"}}
    await place.create(a_pod("one", container={"readinessProbe": never}, metadata=metadata))
    pod = await place.until_running("one")
    address = pod["status"]["podIP"]
    domain = f"{place.namespace}.svc.cluster.local."
    await place.eventually("one", look_up(f"open.{domain}"), lambda said: address in said)
    assert address not in (await place.try_sh("one", look_up(f"shy.{domain}")))[1]


async def test_datagrams_reach_a_service_too(place: Place) -> None:
    await place.create(a_service("echo", ports=[{"port": 9000, "protocol": "UDP"}]))
    await place.run(a_pod("echo", udp_echo(9000)))
    await place.run(a_pod("client"))
    script = udp_ask(f"echo.{place.namespace}.svc.cluster.local", 9000, "hello")
    await place.eventually("client", script, lambda said: said == "echo hello\n")


async def test_an_external_name_is_another_name(place: Place) -> None:
    await place.create(a_service("web"))
    target = f"web.{place.namespace}.svc.cluster.local"
    alias = a_service("alias", type="ExternalName", externalName=target)
    del alias["spec"]["selector"]
    await place.create(alias)
    await place.run(a_web_server("web"))
    await place.run(a_pod("client"))
    await place.eventually("client", get("http://alias"), lambda said: said == "web\n")


async def test_a_named_port_is_found_by_its_name(place: Place) -> None:
    await place.create(a_service("web", ports=[{"name": "http", "port": 8000, "targetPort": 80}]))
    await place.run(a_web_server("web"))
    domain = f"web.{place.namespace}.svc.cluster.local"
    script = look_up(f"_http._tcp.{domain}.", "srv")
    said = await place.eventually("web", script, lambda said: domain in said and "8000" in said)
    assert "NXDOMAIN" not in said


async def test_a_name_that_nobody_has_does_not_exist(place: Place) -> None:
    await place.run(a_pod("client"))
    script = look_up(f"nobody.{place.namespace}.svc.cluster.local.")
    await place.eventually("client", script, lambda said: "NXDOMAIN" in said)


async def test_pods_reach_each_other_by_their_addresses(place: Place) -> None:
    pod = await place.run(a_web_server("web"))
    await place.run(a_pod("client"))
    script = get(f"http://{pod['status']['podIP']}")
    await place.eventually("client", script, lambda said: said == "web\n")


async def test_a_client_stays_with_its_pod_where_the_service_says_so(place: Place) -> None:
    await place.create(a_service("web", sessionAffinity="ClientIP"))
    for name in ("one", "two", "three"):
        await place.run(a_web_server(name, metadata={"name": name, "labels": {"app": "web"}}))
    await place.run(a_pod("client"))
    many = f"for n in 1 2 3 4 5 6 7 8; do {get('http://web')}; done | sort -u | wc -l"
    await place.eventually(
        "client", get("http://web"), lambda said: said.strip() in ("one", "two", "three")
    )
    await place.eventually("client", many, lambda said: said.strip() == "1")


async def test_an_address_of_a_service_has_a_name(place: Place) -> None:
    await place.create(a_service("web"))
    await place.run(a_pod("client"))
    words = ("get", "service", "web", "-o", "jsonpath={.spec.clusterIP}")
    backwards = ".".join(reversed((await place.kubectl(*words)).stdout.split(".")))
    script = look_up(f"{backwards}.in-addr.arpa.", "ptr")
    name = f"web.{place.namespace}.svc.cluster.local"
    await place.eventually("client", script, lambda said: name in said)


async def test_a_service_may_be_told_its_endpoints(place: Place) -> None:
    told = a_service("told")
    del told["spec"]["selector"]
    pod = await place.run(a_web_server("web"))
    await place.create(
        told,
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": "told-1", "labels": {"kubernetes.io/service-name": "told"}},
            "addressType": "IPv4",
            "ports": [{"port": 80, "protocol": "TCP"}],
            "endpoints": [{"addresses": [pod["status"]["podIP"]], "conditions": {"ready": True}}],
        },
    )
    await place.run(a_pod("client"))
    await place.eventually("client", get("http://told"), lambda said: said == "web\n")


async def test_a_service_follows_a_change_of_its_selector(place: Place) -> None:
    await place.create(a_service("web", app="one"))
    for name in ("one", "two"):
        await place.run(a_web_server(name))
    await place.run(a_pod("client"))
    await place.eventually("client", get("http://web"), lambda said: said == "one\n")
    await place.change("web", {"spec": {"selector": {"app": "two"}}}, "Service")
    await place.eventually("client", get("http://web"), lambda said: said == "two\n")


async def test_a_service_is_reached_from_another_node(place: Place, spare_node: str) -> None:
    await place.create(a_service("web"))
    await place.run(a_web_server("web"))
    tolerations = [{"key": SPARE, "operator": "Exists"}]
    selector = {"kubernetes.io/hostname": spare_node}
    await place.run(a_pod("far", nodeSelector=selector, tolerations=tolerations))
    await place.eventually("far", get("http://web"), lambda said: said == "web\n")
