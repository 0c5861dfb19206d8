"""Commands that write objects: expose, adm log-verbosity."""

import json
from collections.abc import Iterator

import pytest
from tests.component.cli.conftest import Json, Place, Virtctl

from kubevirt.cli import exit_codes

PORTS = {
    "networks": [{"name": "default", "pod": {}}],
    "domain": {
        "devices": {
            "interfaces": [
                {
                    "name": "default",
                    "masquerade": {},
                    "ports": [{"port": 22}, {"port": 53, "protocol": "UDP"}],
                }
            ]
        },
        "memory": {"guest": "64Mi"},
    },
}


def service(place: Place, name: str) -> Json:
    found: Json = place.ask("GET", f"/api/v1/namespaces/{place.namespace}/services/{name}")
    return found


def test_a_machine_is_exposed_by_what_its_pod_is_named_by(place: Place, virtctl: Virtctl) -> None:
    place.machine()
    done = virtctl(
        *("expose", "vm", "testvm", "--name", "web", "--port", "80"),
        *("--target-port", "8080", "--type", "NodePort", "--port-name", "http"),
    )
    assert (done.code, done.out) == (0, "Service web successfully created for vm testvm\n")
    spec = service(place, "web")["spec"]
    assert spec["selector"] == {"vmi.kubevirt.io/id": "testvm"}
    assert spec["type"] == "NodePort"
    (port,) = spec["ports"]
    assert (port["name"], port["port"], port["targetPort"]) == ("http", 80, 8080)


def test_without_a_port_those_of_the_interface_are_taken(place: Place, virtctl: Virtctl) -> None:
    place.create("VirtualMachineInstance", "testvm", **PORTS)
    done = virtctl("expose", "VirtualMachineInstance", "testvm", "--name=all", "--cluster-ip=None")
    assert done.code == 0
    assert done.out == "Service all successfully created for virtualmachineinstance testvm\n"
    spec = service(place, "all")["spec"]
    assert spec["clusterIP"] == "None"
    ports = [(each["name"], each["port"], each["protocol"]) for each in spec["ports"]]
    assert ports == [("port-1", 22, "TCP"), ("port-2", 53, "UDP")]


def test_a_replica_set_is_exposed_by_its_labels(place: Place, virtctl: Virtctl) -> None:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"domain": PORTS["domain"]}}
    place.create(
        "VirtualMachineInstanceReplicaSet",
        "many",
        selector={"matchLabels": labels},
        template=template,
    )
    assert virtctl("expose", "vmirs", "many", "--name", "web", "--port", "80").code == 0
    assert service(place, "web")["spec"]["selector"] == labels


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["vm", "testvm", "--name", "a"], exit_codes.USAGE),
        (["vm", "none", "--name", "a", "--port", "80"], exit_codes.NOT_FOUND),
        (["pod", "testvm", "--name", "a", "--port", "80"], exit_codes.USAGE),
        (["vm", "testvm", "--port", "80"], exit_codes.USAGE),
        (["vm", "testvm", "--name", "a", "--port", "80", "--type", "ExternalName"], 2),
        (["vm", "testvm", "--name", "a", "--port", "80", "--protocol", "ICMP"], 2),
        (["vm", "testvm", "--name", "a", "--port", "80", "--ip-family", "IPv5"], 2),
        (["vm", "testvm", "--name", "A_B", "--port", "80"], exit_codes.FAILED),
    ],
)
def test_what_cannot_be_exposed_is_said(
    place: Place, virtctl: Virtctl, words: list[str], code: int
) -> None:
    place.machine()
    done = virtctl("expose", *words)
    assert (done.code, done.out) == (code, "")


def test_a_service_that_is_there_is_a_conflict(place: Place, virtctl: Virtctl) -> None:
    place.machine()
    words = ("expose", "vm", "testvm", "--name", "web", "--port", "80")
    assert virtctl(*words).code == 0
    assert virtctl(*words).code == exit_codes.CONFLICT


# adm log-verbosity


@pytest.fixture
def installed(place: Place) -> Iterator[str]:
    path = "/apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts"
    body = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {"name": "kubevirt"},
        "spec": {
            "configuration": {
                "developerConfiguration": {
                    "useEmulation": True,
                    "logVerbosity": {"virtAPI": 5, "nodeVerbosity": {"node01": 7}},
                }
            }
        },
    }
    place.ask("POST", path, body)
    yield f"{path}/kubevirt"
    place.ask("DELETE", f"{path}/kubevirt")


def test_verbosity_is_shown_set_and_reset(place: Place, virtctl: Virtctl, installed: str) -> None:
    def configured() -> Json:
        found = place.ask("GET", installed)["spec"]["configuration"]["developerConfiguration"]
        assert found["useEmulation"] is True  # what is others' stays
        return dict(found["logVerbosity"])

    shown = virtctl("adm", "log-verbosity", "--virt-api", "--virt-launcher")
    assert shown.out == "virt-api = 5\nvirt-launcher = 2\n"
    changed = virtctl("adm", "log-verbosity", "--all=3", "--virt-handler=9")
    assert changed.out == (
        "virt-api = 3\nvirt-controller = 3\nvirt-handler = 9\nvirt-launcher = 3\nvirt-operator = 3\n"
    )
    assert configured()["nodeVerbosity"] == {"node01": 7}
    reset = virtctl("adm", "log-verbosity", "--reset", "--virt-api=4", "-o", "json")
    assert json.loads(reset.out)["virt-api"] == 4
    assert configured() == {"virtAPI": 4}


@pytest.mark.parametrize(
    "words",
    [[], ["--virt-api=10"], ["--virt-api=x"], ["--all", "--virt-api=3"], ["--all", "--reset"]],
)
def test_a_wrong_verbosity_changes_nothing(virtctl: Virtctl, words: list[str]) -> None:
    assert virtctl("adm", "log-verbosity", *words).code == exit_codes.USAGE


def test_a_server_without_kubevirt_has_no_verbosity(virtctl: Virtctl) -> None:
    assert virtctl("adm", "log-verbosity", "--all").code == exit_codes.NOT_FOUND
