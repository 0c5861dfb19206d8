"""Network cards: every model by one of the two bindings, and all that a card can be told.

outside, 10.244.1.1 ──── machine (virt-launcher) ──── the guest
"""

from collections.abc import Iterator

import pytest
from tests.component.host.net_world import MTU
from tests.e2e.nouns.guests import ROOT, Guest, Object, Spec, disk, refusal, running
from tests.e2e.standalone.driver import Machine

pytestmark = pytest.mark.timeout(300)

OUTSIDE = "10.244.1.1"
MAC = "02:00:5e:10:00:07"

MASQUERADE: Object = {"masquerade": {}}
BRIDGE: Object = {"bridge": {}}
each_binding = pytest.mark.parametrize(
    "binding", [MASQUERADE, BRIDGE], ids=["masquerade", "bridge"]
)
CARD = "/sys/bus/pci/drivers/virtio-pci/$(basename $(readlink -f /sys/class/net/eth0/device/..))"
"""Its place on the PCI bus, where it is virtio."""


@pytest.fixture(scope="module")
def guest(machine: Machine) -> Iterator[Guest]:
    options = {
        "bootFileName": "boot.efi",
        "tftpServerName": "tftp.example.com",
        "ntpServers": ["192.0.2.1", "192.0.2.2"],
        "privateOptions": [{"option": 240, "value": "of our own"}],
    }
    spec = Spec(
        root=disk("root", ROOT, bootOrder=1),
        interface={**MASQUERADE, "macAddress": MAC, "dhcpOptions": options, "bootOrder": 2},
        devices={"networkInterfaceMultiqueue": True},
        domain={"cpu": {"cores": 2}},
    )
    with running(machine, spec) as guest:
        yield guest


@pytest.fixture(scope="module")
def bridged(machine: Machine) -> Iterator[Guest]:
    with running(machine, Spec(interface={**BRIDGE, "macAddress": MAC})) as guest:
        yield guest


def reaches_out(guest: Guest) -> bool:
    """Some cards take seconds until their link is up, and once more when DHCP has told them their MTU."""
    ping = f"until ping -c 1 -W 1 {OUTSIDE} >/dev/null 2>&1; do sleep 0.1; done"
    return guest.attempt(f"timeout 30 sh -c '{ping}'")[0] == 0


def driver(guest: Guest) -> str:
    return guest.run("basename $(readlink -f /sys/class/net/eth0/device/driver)")


# Bindings and models.


def test_a_masqueraded_card_has_an_address_of_its_own_and_reaches_out(guest: Guest) -> None:
    assert "10.0.2.2/24" in guest.run("ip -4 -o addr show dev eth0")
    assert reaches_out(guest)


def test_a_bridged_card_has_the_address_of_the_pod_and_reaches_out(bridged: Guest) -> None:
    pod = bridged.session.said.partition(" runs at ")[2].partition(";")[0]
    assert pod
    assert f"{pod}/" in bridged.run("ip -4 -o addr show dev eth0")
    assert reaches_out(bridged)


def test_a_card_is_virtio_if_nothing_is_said(guest: Guest) -> None:
    assert driver(guest) == "virtio_net"


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("e1000", "e1000"),
        ("e1000e", "e1000e"),
        ("rtl8139", "8139cp"),
        ("pcnet", "pcnet32"),
        ("ne2k_pci", "ne2k-pci"),
    ],
)
@each_binding
def test_a_card_of_each_model_is_found_by_its_driver_and_reaches_out(
    machine: Machine, model: str, binding: Object, name: str
) -> None:
    with running(machine, Spec(interface={**binding, "model": model})) as guest:
        assert driver(guest) == name
        assert reaches_out(guest)


@each_binding
def test_a_transitional_card_is_the_one_that_old_drivers_know_and_reaches_out(
    machine: Machine, binding: Object
) -> None:
    spec = Spec(interface=binding, devices={"useVirtioTransitional": True})
    with running(machine, spec) as guest:
        assert (vendor(guest), identity(guest)) == ("0x1af4", "0x1000")
        assert driver(guest) == "virtio_net"
        assert reaches_out(guest)


def test_a_card_of_today_is_not_transitional(guest: Guest) -> None:
    assert (vendor(guest), identity(guest)) == ("0x1af4", "0x1041")


def vendor(guest: Guest) -> str:
    return guest.read(f"{CARD}/vendor")


def identity(guest: Guest) -> str:
    return guest.read(f"{CARD}/device")


def test_a_model_that_qemu_lacks_is_refused(machine: Machine) -> None:
    why = refusal(machine, Spec(interface={**MASQUERADE, "model": "abacus"}))
    assert "uses model 'abacus' that is not supported" in why


# What a card is told.


def test_the_mac_address_is_the_one_of_the_manifest(guest: Guest, bridged: Guest) -> None:
    assert guest.read("/sys/class/net/eth0/address") == MAC
    assert bridged.read("/sys/class/net/eth0/address") == MAC


def test_a_card_has_queues_for_each_processor(guest: Guest, bridged: Guest) -> None:
    assert guest.run("ls /sys/class/net/eth0/queues").split() == ["rx-0", "rx-1", "tx-0", "tx-1"]
    assert bridged.run("ls /sys/class/net/eth0/queues").split() == ["rx-0", "tx-0"]


def test_only_a_card_with_a_boot_order_can_be_booted_from(guest: Guest, bridged: Guest) -> None:
    """What it would boot by is in a ROM of its own."""
    assert guest.attempt(f"test -e {CARD}/rom")[0] == 0
    assert bridged.attempt(f"test -e {CARD}/rom")[0] != 0


def test_the_mtu_is_the_pods(guest: Guest, bridged: Guest) -> None:
    assert guest.read("/sys/class/net/eth0/mtu") == str(MTU)
    assert bridged.read("/sys/class/net/eth0/mtu") == str(MTU)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bootfile", "boot.efi"),
        ("tftp", "tftp.example.com"),
        ("ntpsrv", "192.0.2.1 192.0.2.2"),
        ("opt240", b"of our own".hex()),
    ],
)
def test_dhcp_options_of_the_manifest_are_in_the_lease(guest: Guest, name: str, value: str) -> None:
    assert guest.run(f"grep -h ^{name}= /run/leases/*") == f"{name}={value}"
