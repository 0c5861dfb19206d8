"""The environment of a container, in Kubernetes' order and words."""

from base64 import b64encode
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.embedded.node.objects import a_pod, container

from kubevirt.api.core.namespace import ConfigMap, Secret
from kubevirt.api.core.pod import Pod
from kubevirt.api.core.service import Service
from kubevirt.base.errors import UserError
from kubevirt.embedded.node import downward, environment, service_links
from kubevirt.embedded.node.downward import Places
from kubevirt.embedded.node.environment import Missing, Sources
from kubevirt.embedded.node.expansion import expand
from kubevirt.embedded.objects.pods import spec_of

SOURCES = Sources(
    config_maps={"settings": ConfigMap(data={"color": "blue", "size": "big"})},
    secrets={"keys": Secret(data={"token": b64encode(b"s3cret").decode()})},
    service_links={"DB_SERVICE_HOST": "10.96.0.9"},
    places=Places(
        addresses=("10.0.0.5", "fd00::5"),
        host_addresses=("192.0.2.1",),
        allocatable={"cpu": "4", "memory": "8Gi"},
    ),
)


def pod_with(**main: Any) -> Pod:
    metadata = {"labels": {"app": "web"}, "annotations": {"note": 'say "hi"\n'}}
    spec: dict[str, Any] = {"nodeName": "one", "serviceAccountName": "robot"}
    return a_pod(container("main", **main), metadata=metadata, **spec)


def variables(sources: Sources = SOURCES, **main: Any) -> dict[str, str]:
    pod = pod_with(**main)
    found = environment.variables(pod, spec_of(pod).containers[0], sources)
    return {name: value for name, value in found.items() if name not in sources.service_links}


def value_from(**source: Any) -> str | None:
    return variables(env=[{"name": "X", "valueFrom": source}]).get("X")


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("plain", "plain"),
        ("$(A)", "one"),
        ("$(A)$(B)", "onetwo"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$one"),
        ("$(C)", "$(C)"),
        ("$(A", "$(A"),
        ("$A", "$A"),
        ("cost: 5$", "cost: 5$"),
        ("$()", "$()"),
        ("$(LOOP)", "$(LOOP)"),
    ],
)
def test_references_are_put_in(text: str, expanded: str) -> None:
    assert expand(text, {"A": "one", "LOOP": "$(LOOP)"}, {"A": "hidden", "B": "two"}) == expanded


@given(st.text(alphabet="$()AB", max_size=20))
def test_a_text_without_values_loses_nothing_but_doubled_dollars(text: str) -> None:
    assert expand(text.replace("$", "$$")) == text


def test_a_variable_may_refer_to_those_before_it_and_to_services() -> None:
    found = variables(
        env=[
            {"name": "A", "value": "$(B)"},
            {"name": "B", "value": "b"},
            {"name": "C", "value": "$(B)@$(DB_SERVICE_HOST)"},
        ]
    )

    assert found == {"A": "$(B)", "B": "b", "C": "b@10.96.0.9"}


def test_variables_by_name_go_before_those_taken_over_and_these_before_services() -> None:
    found = variables(
        envFrom=[
            {"configMapRef": {"name": "settings"}},
            {"secretRef": {"name": "keys"}, "prefix": "KEY_"},
        ],
        env=[{"name": "color", "value": "red"}],
    )

    assert found == {"color": "red", "size": "big", "KEY_token": "s3cret"}
    assert environment.variables(pod_with(), spec_of(pod_with()).containers[0], SOURCES) == {
        "DB_SERVICE_HOST": "10.96.0.9"
    }


def test_a_variable_hides_the_link_of_a_service() -> None:
    pod = pod_with(env=[{"name": "DB_SERVICE_HOST", "value": "mine"}])

    found = environment.variables(pod, spec_of(pod).containers[0], SOURCES)

    assert found == {"DB_SERVICE_HOST": "mine"}


@pytest.mark.parametrize(
    ("main", "message"),
    [
        ({"envFrom": [{"configMapRef": {"name": "no"}}]}, 'configmap "no" not found'),
        ({"envFrom": [{"secretRef": {"name": "no"}}]}, 'secret "no" not found'),
        (
            {"env": [{"name": "X", "valueFrom": {"secretKeyRef": {"name": "no", "key": "k"}}}]},
            'secret "no" not found',
        ),
        (
            {
                "env": [
                    {
                        "name": "X",
                        "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "k"}},
                    }
                ]
            },
            "couldn't find key k in ConfigMap home/settings",
        ),
        (
            {"env": [{"name": "X", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "k"}}}]},
            "couldn't find key k in Secret home/keys",
        ),
    ],
)
def test_what_is_missing_is_said(main: dict[str, Any], message: str) -> None:
    with pytest.raises(Missing) as raised:
        variables(**main)

    assert str(raised.value) == message
    assert raised.value.reason == "CreateContainerConfigError"


@pytest.mark.parametrize("name", ["settings", "no"])
def test_what_is_optional_may_be_missing(name: str) -> None:
    ref = {"name": name, "key": "k", "optional": True}

    assert value_from(configMapKeyRef=ref) is None
    assert variables(envFrom=[{"secretRef": {"name": "no", "optional": True}}]) == {}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", "web"),
        ("metadata.namespace", "home"),
        ("metadata.uid", "u1"),
        ("metadata.labels['app']", "web"),
        ("metadata.labels['none']", ""),
        ("metadata.annotations['note']", 'say "hi"\n'),
        ("metadata.annotations", 'note="say \\"hi\\"\\n"'),
        ("spec.nodeName", "one"),
        ("spec.serviceAccountName", "robot"),
        ("status.podIP", "10.0.0.5"),
        ("status.podIPs", "10.0.0.5,fd00::5"),
        ("status.hostIP", "192.0.2.1"),
    ],
)
def test_a_pod_knows_its_fields(path: str, value: str) -> None:
    assert value_from(fieldRef={"fieldPath": path}) == value


def test_a_field_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UserError, match="unsupported fieldPath"):
        value_from(fieldRef={"fieldPath": "spec.volumes"})


@pytest.mark.parametrize(
    ("resource", "divisor", "value"),
    [
        ("limits.cpu", None, "2"),
        ("limits.cpu", "1m", "1500"),
        ("requests.cpu", "1m", "250"),
        ("requests.cpu", "0", "1"),
        ("limits.memory", "1Mi", "8192"),
        ("requests.memory", "1Mi", "1"),
        ("requests.ephemeral-storage", None, "0"),
    ],
)
def test_a_container_knows_its_resources(resource: str, divisor: str | None, value: str) -> None:
    resources = {"limits": {"cpu": "1500m"}, "requests": {"cpu": "250m", "memory": "1000"}}
    ref = {"resource": resource} | ({"divisor": divisor} if divisor else {})
    env = [{"name": "X", "valueFrom": {"resourceFieldRef": ref}}]

    assert variables(env=env, resources=resources) == {"X": value}


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        ({"resource": "limits.cpu", "containerName": "no"}, "container no not found"),
        ({"resource": "wishes.cpu"}, "unsupported container resource : wishes.cpu"),
    ],
)
def test_a_resource_that_does_not_exist_is_refused(ref: dict[str, str], message: str) -> None:
    with pytest.raises(UserError) as raised:
        value_from(resourceFieldRef=ref)

    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("plain ü", '"plain ü"'),
        ("\x00\x1b\x7f", r'"\x00\x1b\x7f"'),
        ("\u200b\U000e0001", r'"\u200b\U000e0001"'),
        ("\\", r'"\\"'),
    ],
)
def test_labels_are_quoted_as_in_go(text: str, quoted: str) -> None:
    pod = a_pod(metadata={"labels": {"k": text}})

    assert downward.field(pod, "metadata.labels", Places()) == f"k={quoted}"


def test_commands_see_the_environment() -> None:
    pod = pod_with(command=["run", "$(A)"], args=["--$(B)"])

    found = environment.command(spec_of(pod).containers[0], {"A": "fast"})

    assert found == (["run", "fast"], ["--$(B)"])


def a_service(name: str, namespace: str, address: str = "10.96.0.9") -> Service:
    ports = [{"name": "pg-main", "port": 5432}, {"port": 53, "protocol": "UDP", "name": "dns"}]
    return msgspec.convert(
        {
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"clusterIP": address, "ports": ports},
        },
        Service,
    )


def test_services_are_told_as_docker_told_links() -> None:
    assert service_links.variables([a_service("my-db", "home")], "home", has_links=True) == {
        "MY_DB_SERVICE_HOST": "10.96.0.9",
        "MY_DB_SERVICE_PORT": "5432",
        "MY_DB_SERVICE_PORT_PG_MAIN": "5432",
        "MY_DB_SERVICE_PORT_DNS": "53",
        "MY_DB_PORT": "tcp://10.96.0.9:5432",
        "MY_DB_PORT_5432_TCP": "tcp://10.96.0.9:5432",
        "MY_DB_PORT_5432_TCP_PROTO": "tcp",
        "MY_DB_PORT_5432_TCP_PORT": "5432",
        "MY_DB_PORT_5432_TCP_ADDR": "10.96.0.9",
        "MY_DB_PORT_53_UDP": "udp://10.96.0.9:53",
        "MY_DB_PORT_53_UDP_PROTO": "udp",
        "MY_DB_PORT_53_UDP_PORT": "53",
        "MY_DB_PORT_53_UDP_ADDR": "10.96.0.9",
    }


@pytest.mark.parametrize(
    ("service", "has_links", "is_told"),
    [
        (a_service("db", "home"), True, True),
        (a_service("db", "home"), False, False),
        (a_service("db", "elsewhere"), True, False),
        (a_service("kubernetes", "default"), False, True),
        (a_service("db", "home", address="None"), True, False),
    ],
)
def test_a_pod_is_told_of_services_beside_it_and_of_the_api_server(
    service: Service, *, has_links: bool, is_told: bool
) -> None:
    assert bool(service_links.variables([service], "home", has_links=has_links)) is is_told
