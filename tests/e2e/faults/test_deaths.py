"""Whoever is killed beside a guest is back, and the guest never notices. If the guest itself is killed, its end
says so. `make soak` does the first part longer.
"""

import os
import signal
import time
from contextlib import suppress

import pytest
from bench.launcher.processes import MANAGER, MONITOR, QEMU, processes_of
from tests.e2e.faults.life import COMPANIONS, lived
from tests.e2e.nouns.guests import Spec, started
from tests.e2e.standalone.driver import LIMIT_S, Machine

pytestmark = pytest.mark.timeout(300)

TIMES = 5


@pytest.mark.parametrize("companion", COMPANIONS)
def test_a_guest_outlives_the_deaths_of_its_companions(machine: Machine, companion: str) -> None:
    life = lived(machine, companion, TIMES)
    assert [death.moment for death in life.deaths].count("booting") == 2
    assert len(life.deaths) == TIMES
    assert all(death.killed for death in life.deaths if death.moment != "shutting down")
    assert life.ending == "the guest has shut down"


def test_a_qemu_that_is_killed_is_a_crash_with_a_cause(machine: Machine) -> None:
    said = said_after_death(machine, QEMU)
    assert said == (
        "virt-launcher: the guest crashed: QEMU was ended by SIGKILL, by somebody or for lack of memory"
    )


def test_a_monitor_that_is_killed_takes_all_along_and_its_end_is_told(machine: Machine) -> None:
    said = said_after_death(machine, MONITOR)
    assert said.startswith(
        "virt-launcher: the launcher was ended by SIGKILL, by somebody or for lack"
    )


def said_after_death(machine: Machine, role: str) -> str:
    """The last words to the user."""
    with started(machine, Spec(), console=False) as guest:
        guest.session.until_said("guest testvm runs")
        kill(guest.session.process.pid, role)
        assert guest.session.ended() == 1
    return str(guest.session.said).splitlines()[-1]


def test_a_guest_whose_manager_cannot_live_runs_on(machine: Machine) -> None:
    """Each new manager is killed as soon as it is there; a guest that runs is never given up."""
    with started(machine, Spec(instance={"terminationGracePeriodSeconds": 30})) as guest:
        guest.session.until_said("guest testvm runs")
        qemu = guest.qemu
        for _ in range(25):  # more often than a launcher without a guest would take
            kill(guest.session.process.pid, MANAGER)
        guest.log_in()
        assert guest.qemu == qemu
        guest.session.type("sudo poweroff\n")
        assert guest.session.ended() == 0


def kill(outside: int, role: str) -> None:
    """Waits for it, if it is away."""
    deadline = time.monotonic() + LIMIT_S
    while role not in (found := processes_of(outside)):
        assert time.monotonic() < deadline, f"there is no {role}"
        time.sleep(0.005)
    with suppress(ProcessLookupError):  # it has ended meanwhile, which is as good
        os.kill(found[role].pid, signal.SIGKILL)
