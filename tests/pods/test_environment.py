"""What a container finds in its environment, and what becomes of it when something is missing."""

import uuid

from tests.pods.objects import (
    Object,
    a_config_map,
    a_pod,
    a_secret,
    a_service,
    state_of,
    status_of,
)
from tests.pods.place import LIMIT_S, Place

from clusterup import waiting


def field(name: str, path: str) -> Object:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def resource(name: str, path: str, divisor: str) -> Object:
    reference = {"resource": path, "divisor": divisor}
    return {"name": name, "valueFrom": {"resourceFieldRef": reference}}


def key_of(kind: str, name: str, key: str, *, optional: bool = False) -> Object:
    return {f"{kind}KeyRef": {"name": name, "key": key, "optional": optional}}


def variables(said: str) -> dict[str, str]:
    lines = (line.partition("=") for line in said.splitlines())
    return {name: value for name, _, value in lines}


async def test_variables_are_expanded_in_each_other_and_in_the_command(place: Place) -> None:
    container = {
        "command": ["/bin/sh", "-c", "env; echo ARGS=$1,$2", "--"],
        "args": ["$(GREETING)", "$(NOBODY)"],
        "env": [
            {"name": "WHO", "value": "world"},
            {"name": "GREETING", "value": "hello $(WHO)"},
            {"name": "ESCAPED", "value": "$$(WHO)"},
            {"name": "UNKNOWN", "value": "$(NOBODY) $(LATER)"},
            {"name": "LATER", "value": "too late"},
            {"name": "EMPTY"},
        ],
    }
    found = variables(await place.output("", container=container))
    assert found["GREETING"] == "hello world"
    assert found["ESCAPED"] == "$(WHO)"
    assert found["UNKNOWN"] == "$(NOBODY) $(LATER)"
    assert found["EMPTY"] == ""
    assert found["ARGS"] == "hello world,$(NOBODY)"


async def test_a_pod_tells_its_containers_about_itself(place: Place) -> None:
    container = {
        "env": [
            field("NAME", "metadata.name"),
            field("NAMESPACE", "metadata.namespace"),
            field("UID", "metadata.uid"),
            field("APP", "metadata.labels['app']"),
            field("NOTE", "metadata.annotations['example.org/note']"),
            field("NODE", "spec.nodeName"),
            field("ACCOUNT", "spec.serviceAccountName"),
            field("HOST", "status.hostIP"),
            field("ADDRESS", "status.podIP"),
            field("ADDRESSES", "status.podIPs"),
        ]
    }
    metadata = {"labels": {"app": "own"}, "annotations": {"example.org/note": "a note"}}
    pod = await place.finish(a_pod("mirror", "env", container=container, metadata=metadata))
    found = variables(await place.log("mirror"))
    assert found["NAME"] == "mirror"
    assert found["NAMESPACE"] == place.namespace
    assert found["UID"] == pod["metadata"]["uid"]
    assert found["APP"] == "own"
    assert found["NOTE"] == "a note"
    assert found["NODE"] == pod["spec"]["nodeName"]
    assert found["ACCOUNT"] == "default"
    assert found["HOST"] == pod["status"]["hostIP"]
    assert found["ADDRESS"] == pod["status"]["podIP"]
    assert found["ADDRESSES"] == pod["status"]["podIP"]
    assert found["HOSTNAME"] == "mirror"


async def test_a_container_is_told_of_its_resources(place: Place) -> None:
    container = {
        "resources": {
            "requests": {"cpu": "10m", "memory": "16Mi"},
            "limits": {"memory": "64Mi"},
        },
        "env": [
            resource("MEMORY", "limits.memory", "1Mi"),
            resource("CPU", "requests.cpu", "1m"),
            resource("ALL_CPUS", "limits.cpu", "1"),
        ],
    }
    found = variables(await place.output("env", container=container))
    assert found["MEMORY"] == "64"
    assert found["CPU"] == "10"
    # What has no limit has the node's.
    assert int(found["ALL_CPUS"]) >= 1


async def test_variables_come_from_config_maps_and_secrets(place: Place) -> None:
    await place.create(
        a_config_map("settings", colour="blue", size="large"),
        a_secret("hidden", password="opensesame"),
    )
    container = {
        "env": [
            {"name": "COLOUR", "valueFrom": key_of("configMap", "settings", "colour")},
            {"name": "PASSWORD", "valueFrom": key_of("secret", "hidden", "password")},
            {"name": "NO_KEY", "valueFrom": key_of("configMap", "settings", "no", optional=True)},
            {"name": "NO_MAP", "valueFrom": key_of("secret", "nothing", "no", optional=True)},
            {"name": "size", "value": "own"},
        ],
        "envFrom": [
            {"configMapRef": {"name": "settings"}},
            {"prefix": "S_", "secretRef": {"name": "hidden"}},
            {"configMapRef": {"name": "nothing", "optional": True}},
        ],
    }
    found = variables(await place.output("env", container=container))
    assert found["COLOUR"] == "blue"
    assert found["PASSWORD"] == "opensesame"
    assert found["colour"] == "blue"
    assert found["S_password"] == "opensesame"
    assert found["size"] == "own"
    assert not {"NO_KEY", "NO_MAP"} & set(found)


async def test_a_container_waits_for_a_config_map_that_it_needs(place: Place) -> None:
    reference = key_of("configMap", "later", "colour")
    await place.create(
        a_pod("waiting", container={"env": [{"name": "COLOUR", "valueFrom": reference}]})
    )
    pod = await place.until_waiting("waiting", "CreateContainerConfigError")
    assert state_of(pod)["waiting"]["message"] == 'configmap "later" not found'
    assert status_of(pod)["ready"] is False
    await place.until_event("waiting", "Failed", 'Error: configmap "later" not found')
    await place.create(a_config_map("later", colour="blue"))
    await place.until_ready("waiting")
    assert await place.sh("waiting", "echo $COLOUR") == "blue\n"


async def test_a_key_that_is_missing_is_named(place: Place) -> None:
    await place.create(a_config_map("settings", colour="blue"))
    reference = key_of("configMap", "settings", "nothing")
    await place.create(
        a_pod("waiting", container={"env": [{"name": "COLOUR", "valueFrom": reference}]})
    )
    pod = await place.until_waiting("waiting", "CreateContainerConfigError")
    message = state_of(pod)["waiting"]["message"]
    assert message == f"couldn't find key nothing in ConfigMap {place.namespace}/settings"


async def test_services_are_in_the_environment_of_later_pods(place: Place) -> None:
    ports = [{"name": "web", "port": 80}, {"name": "more", "port": 8080}]
    await place.create(a_service("my-web", ports=ports))
    service = (
        await place.kubectl("get", "service", "my-web", "-o", "jsonpath={.spec.clusterIP}")
    ).stdout
    found: dict[str, str] = {}

    async def is_known() -> bool:
        # A kubelet hears of a service a moment after whoever made it.
        found.update(variables(await place.output("env", f"linked-{uuid.uuid4().hex[:8]}")))
        return "MY_WEB_SERVICE_HOST" in found

    await waiting.until(is_known, limit_s=LIMIT_S, what="the service in the environment")
    assert found["MY_WEB_SERVICE_HOST"] == service
    assert found["MY_WEB_SERVICE_PORT"] == "80"
    assert found["MY_WEB_SERVICE_PORT_MORE"] == "8080"
    assert found["MY_WEB_PORT"] == f"tcp://{service}:80"
    assert found["MY_WEB_PORT_80_TCP_ADDR"] == service
    assert "KUBERNETES_SERVICE_HOST" in found


async def test_a_pod_without_service_links_knows_the_api_server_only(place: Place) -> None:
    await place.create(a_service("my-web"))
    found = variables(await place.output("env", enableServiceLinks=False))
    assert "MY_WEB_SERVICE_HOST" not in found
    assert "KUBERNETES_SERVICE_HOST" in found
    assert found["KUBERNETES_SERVICE_PORT"] == "443"


async def test_a_container_starts_in_its_folder(place: Place) -> None:
    assert await place.output("pwd", container={"workingDir": "/proc/sys"}) == "/proc/sys\n"
    assert await place.output("pwd", "rooted") == "/\n"
