"""What a guest does to itself: its watchdog bites, its kernel panics. Each has a guest of its own."""

import pytest
from tests.e2e.nouns.guests import Guest, Spec, running
from tests.e2e.standalone.driver import Machine

pytestmark = pytest.mark.timeout(300)


def watched(action: str) -> Spec:
    return Spec(
        instance={"terminationGracePeriodSeconds": 30},
        devices={"watchdog": {"name": "watchdog", "i6300esb": {"action": action}}},
    )


def stop_feeding(guest: Guest) -> None:
    """A program opens the watchdog with a time limit of 2 s and never comes back to it."""
    guest.session.type("sudo watchdog -T 2 -t 600 /dev/watchdog\n")


def test_a_watchdog_resets_the_guest(machine: Machine) -> None:
    with running(machine, watched("reset")) as guest:
        qemu, before = guest.qemu, guest.read("/proc/sys/kernel/random/boot_id")
        stop_feeding(guest)
        guest.log_in()
        assert guest.read("/proc/sys/kernel/random/boot_id") != before
        assert guest.qemu == qemu


def test_a_watchdog_switches_the_guest_off(machine: Machine) -> None:
    with running(machine, watched("poweroff")) as guest:
        stop_feeding(guest)
        assert guest.session.ended() == 1
    assert guest.session.said.splitlines()[-1] == (
        "virt-launcher: the guest was ended: its watchdog has switched it off"
    )


def test_a_watchdog_asks_the_guest_to_shut_down(machine: Machine) -> None:
    with running(machine, watched("shutdown")) as guest:
        stop_feeding(guest)
        assert guest.session.ended() == 0
    assert guest.session.said.splitlines()[-1] == "virt-launcher: the guest has shut down"


def test_a_panic_of_the_guest_is_told(machine: Machine) -> None:
    with running(machine, Spec(devices={"panicDevices": [{"model": "isa"}]})) as guest:
        guest.session.type("sudo sh -c 'echo c > /proc/sysrq-trigger'\n")
        assert guest.session.ended() == 1
    assert guest.session.said.splitlines()[-1] == "virt-launcher: the guest's kernel panicked"
