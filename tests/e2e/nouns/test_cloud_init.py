"""cloud-init by both of its disks, each filled in each way: the host name shows that the guest has read what is for its
users, an address beside that of DHCP what is for its network.
"""

import base64
from collections.abc import Iterator, Mapping

import pytest
from tests.e2e.nouns.guests import Guest, Object, Spec, disk, running
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
ADDRESS = "192.0.2.77/24"
NETWORK_DATA = f"""\
version: 2
ethernets:
  eth0:
    addresses: [{ADDRESS}]
"""


def user_data(name: str) -> str:
    return USER_DATA.format(name=name)


def inline(name: str) -> Object:
    return {"userData": user_data(name), "networkData": NETWORK_DATA}


def in_base64(name: str) -> Object:
    return {
        f"{kind}Base64": base64.b64encode(text.encode()).decode()
        for kind, text in inline(name).items()
    }


def in_secrets(user: str, network: str) -> Object:
    return {"secretRef": {"name": user}, "networkDataSecretRef": {"name": network}}


def secret(name: str, **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data}


NO_CLOUD, CONFIG_DRIVE = "cloudInitNoCloud", "cloudInitConfigDrive"

WAYS: Mapping[str, tuple[str, Object]] = {
    "no-cloud-base64": (NO_CLOUD, in_base64("no-cloud-base64")),
    "no-cloud-secret": (NO_CLOUD, in_secrets("for-both", "for-both")),
    "drive-inline": (CONFIG_DRIVE, inline("drive-inline")),
    "drive-base64": (CONFIG_DRIVE, in_base64("drive-base64")),
    "drive-secret": (CONFIG_DRIVE, in_secrets("for-user", "for-network")),
}


@pytest.fixture(scope="module")
def guest(machine: Machine) -> Iterator[Guest]:
    spec = Spec(disks=[disk("seed", {NO_CLOUD: inline("inline")})], interface={"masquerade": {}})
    with running(machine, spec) as guest:
        yield guest


def test_no_cloud_inline_is_read_and_carried_out(guest: Guest) -> None:
    assert guest.run("hostname") == "inline"
    assert guest.read("/etc/written") == "by cloud-init"
    assert guest.read("/etc/ran") == "ran the command"


def test_network_data_sets_the_address(guest: Guest) -> None:
    assert ADDRESS in addresses(guest)


@pytest.mark.parametrize("name", list(WAYS))
def test_every_other_way_to_give_user_and_network_data_is_read(machine: Machine, name: str) -> None:
    kind, source = WAYS[name]
    secrets = [
        secret("for-both", userdata=user_data(name), networkdata=NETWORK_DATA),
        secret("for-user", userdata=user_data(name)),
        secret("for-network", networkdata=NETWORK_DATA),
    ]
    disks = [disk("seed", {kind: source})]
    spec = Spec(disks=disks, beside=secrets, interface={"masquerade": {}})
    with running(machine, spec) as guest:
        assert guest.run("hostname") == name
        assert ADDRESS in addresses(guest)


def addresses(guest: Guest) -> str:
    return guest.run("ip -4 -o addr show dev eth0")
