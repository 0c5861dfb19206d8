"""A container of a pod as the runtime gets it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.embedded.node.objects import a_pod, container

from kubevirt.embedded.node import containers, pod_files
from kubevirt.embedded.node.containers import Surroundings
from kubevirt.embedded.node.neighbours import Allocated, Image, ImageConfig, NotNow
from kubevirt.embedded.node.users import User
from kubevirt.embedded.runtime import container as runtime
from kubevirt.embedded.runtime.container import Mount, Rights

IMAGE = Image(
    id="sha256:1",
    root=Path("/images/1"),
    config=ImageConfig(
        entrypoint=("/entry",),
        command=("serve",),
        environment=("PATH=/app", "LEVEL=low"),
        folder="/srv",
    ),
)
GIVEN = Surroundings(image=IMAGE, user=User(rights=Rights(user=7), home="/home"), hostname="wilma")


def made(given: Surroundings = GIVEN, **more: Any) -> runtime.Container:
    pod = a_pod(container("main", **more))
    assert pod.spec is not None
    return containers.assembled(pod.spec.containers[0], given)


def with_(**more: Any) -> Surroundings:
    return msgspec.structs.replace(GIVEN, **more)


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ({}, ("/entry", "serve")),
        ({"args": ["other"]}, ("/entry", "other")),
        ({"command": ["/mine"]}, ("/mine",)),
        ({"command": ["/mine"], "args": ["other"]}, ("/mine", "other")),
    ],
    ids=["neither", "arguments", "command", "both"],
)
def test_what_the_pod_says_goes_before_what_the_image_says(
    said: dict[str, Any], command: tuple[str, ...]
) -> None:
    assert made(**said).command == command


def test_variables_stand_in_commands() -> None:
    given = with_(variables={"WHO": "world"})

    assert made(given, command=["echo"], args=["$(WHO)", "$$(WHO)", "$(NOBODY)"]).command == (
        *("echo", "world", "$(WHO)", "$(NOBODY)"),
    )


def test_a_container_that_nobody_gave_a_command_is_told_so() -> None:
    with pytest.raises(NotNow, match="no command specified") as refused:
        made(with_(image=Image(id="x")))

    assert refused.value.reason == "CreateContainerError"


def test_the_pod_has_the_last_word_on_variables() -> None:
    devices = Allocated(environment={"LEVEL": "device", "GPU": "0"})

    found = made(with_(variables={"LEVEL": "pod"}, devices=devices)).environment

    assert found == {
        "PATH": "/app",
        "HOME": "/home",
        "HOSTNAME": "wilma",
        "LEVEL": "pod",
        "GPU": "0",
    }


def test_a_container_begins_where_it_is_told() -> None:
    assert made().folder == "/srv"
    assert made(workingDir="/there").folder == "/there"
    assert made(with_(image=Image(id="x")), command=["x"]).folder == "/"


def test_files_of_the_node_give_way_to_volumes() -> None:
    hosts = Mount(source="/volumes/hosts", target="/etc/hosts/")
    files = {"/etc/hosts": "/node/hosts", "/etc/hostname": "/node/hostname"}
    device = Mount(source="/dev/kvm", target="/dev/kvm", is_device=True)

    found = made(
        with_(
            mounts=[hosts],
            files=files,
            message_file="/node/message",
            devices=Allocated(mounts=[device]),
        ),
        terminationMessagePath="/tmp/last",
    ).mounts

    assert [(each.source, each.target) for each in found] == [
        ("/node/hostname", "/etc/hostname"),
        ("/volumes/hosts", "/etc/hosts/"),
        ("/dev/kvm", "/dev/kvm"),
        ("/node/message", "/tmp/last"),
    ]


def test_a_termination_message_has_its_usual_place() -> None:
    (found,) = made(with_(message_file="/node/message")).mounts

    assert found.target == "/dev/termination-log"


def test_a_root_that_is_not_to_be_written_to_is_not() -> None:
    assert made(securityContext={"readOnlyRootFilesystem": True}).is_root_read_only
    assert not made(securityContext={}).is_root_read_only
    assert made().root == "/images/1"
    assert made(with_(image=Image(id="x")), command=["x"]).root == ""


# Files in /etc


def test_a_pod_is_known_by_its_own_name_or_the_one_it_asks_for() -> None:
    assert pod_files.hostname(a_pod(), "node01", "cluster.local") == "web"
    assert pod_files.hostname(a_pod(hostname="wilma"), "node01", "cluster.local") == "wilma"
    assert pod_files.hostname(a_pod(hostNetwork=True), "node01", "cluster.local") == "node01"
    long = a_pod(metadata={"name": "x" * 62 + "-and-more"})
    assert pod_files.hostname(long, "node01", "cluster.local") == "x" * 62


def test_a_pod_of_a_subdomain_has_a_full_name() -> None:
    pod = a_pod(subdomain="flint", setHostnameAsFQDN=True)

    assert pod_files.hostname(pod, "node01", "cluster.local") == "web.flint.home.svc.cluster.local"
    assert "10.0.0.5\tweb.flint.home.svc.cluster.local\tweb\n" in pod_files.hosts(
        pod, ("10.0.0.5",), "cluster.local"
    )


def test_hosts_have_all_addresses_of_the_pod_and_its_aliases() -> None:
    pod = a_pod(hostAliases=[{"ip": "192.0.2.1", "hostnames": ["far", "away"]}])

    text = pod_files.hosts(pod, ("10.0.0.5", "fd00::5"), "cluster.local")

    assert "127.0.0.1\tlocalhost\n" in text
    assert "10.0.0.5\tweb\nfd00::5\tweb\n" in text
    assert text.endswith("192.0.2.1\tfar\taway\n")


def test_a_pod_in_the_machines_network_has_the_machines_hosts() -> None:
    text = pod_files.hosts(a_pod(hostNetwork=True), ("192.0.2.7",), "cluster.local", "1.2.3.4 x\n")

    assert "1.2.3.4 x\n" in text
    assert "192.0.2.7" not in text
