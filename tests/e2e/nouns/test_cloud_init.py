"""cloud-init by both of its disks, each filled in each way: the host name shows that the guest has read it."""

import base64
from collections.abc import Iterator, Mapping

import pytest
from tests.e2e.nouns.guests import Guest, Object, Spec, disk, running, started
from tests.e2e.standalone.driver import Machine

pytestmark = pytest.mark.timeout(300)

USER_DATA = """\
#cloud-config
hostname: {name}
write_files:
  - path: /etc/written
    content: by cloud-init
runcmd:
  - echo ran the command > /etc/ran
"""
NETWORK_DATA = """\
version: 2
ethernets:
  eth0:
    addresses: [192.0.2.77/24]
"""


def user_data(name: str) -> str:
    return USER_DATA.format(name=name)


def encoded(name: str) -> str:
    return base64.b64encode(user_data(name).encode()).decode()


def secret(name: str) -> Object:
    data = {"userdata": user_data(name)}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data}


NO_CLOUD, CONFIG_DRIVE = "cloudInitNoCloud", "cloudInitConfigDrive"

WAYS: Mapping[str, tuple[str, Object]] = {
    "no-cloud-base64": (NO_CLOUD, {"userDataBase64": encoded("no-cloud-base64")}),
    "no-cloud-secret": (NO_CLOUD, {"secretRef": {"name": "no-cloud-secret"}}),
    "drive-inline": (CONFIG_DRIVE, {"userData": user_data("drive-inline")}),
    "drive-base64": (CONFIG_DRIVE, {"userDataBase64": encoded("drive-base64")}),
    "drive-secret": (CONFIG_DRIVE, {"secretRef": {"name": "drive-secret"}}),
}


@pytest.fixture(scope="module")
def inline(machine: Machine) -> Iterator[Guest]:
    source = {"userData": user_data("inline"), "networkData": NETWORK_DATA}
    spec = Spec(disks=[disk("seed", {NO_CLOUD: source})], interface={"masquerade": {}})
    with running(machine, spec) as guest:
        yield guest


def test_no_cloud_inline_is_read_and_carried_out(inline: Guest) -> None:
    assert inline.run("hostname") == "inline"
    assert inline.read("/etc/written") == "by cloud-init"
    assert inline.read("/etc/ran") == "ran the command"


def test_network_data_sets_the_address(inline: Guest) -> None:
    assert "192.0.2.77/24" in inline.run("ip -4 -o addr show dev eth0")


@pytest.mark.parametrize("name", list(WAYS))
def test_every_other_way_to_give_user_data_is_read(machine: Machine, name: str) -> None:
    kind, source = WAYS[name]
    spec = Spec(disks=[disk("seed", {kind: source})], beside=[secret(name)])
    with started(machine, spec) as guest:
        guest.session.until(f"{name} login: ")
