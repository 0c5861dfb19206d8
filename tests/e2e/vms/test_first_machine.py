"""The end of `make up`: a machine that one can log in to, also where it was there before."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.vms import shared_home

from kubevirt.api.scheme import EVENTS
from kubevirt.embedded.home import Home
from kubevirt.testing.home import Said, TrialHome
from kubevirt.virt.instance import happenings

SCRIPT = Path(__file__).parents[3] / "scripts/first_vm.py"


def first_vm(home: TrialHome) -> Said:
    done = subprocess.run(
        [sys.executable, SCRIPT],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=home.environment,
    )
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.mark.timeout(600)
@pytest.mark.usefixtures("guest_images")
def test_a_machine_that_was_up_is_so_again_after_down_and_up() -> None:
    """`make up` after `make down` ended with "Always does not support manual start requests", and another time at a
    machine of which nothing ran yet: its status was that of the guest before, which had been killed.
    """
    if reason := shared_home.why_not():
        pytest.skip(reason)
    with shared_home.of_one_test() as home:
        made = first_vm(home)
        assert (made.code, "testvm is started" in made.err) == (0, True), made.err
        assert "virtctl console testvm" in made.out
        assert home.virtctl("down").code == 0
        shared_home.assert_gone(home.path, Home(home.path).id)
        home.up()
        again = first_vm(home)
        assert (again.code, "testvm is started" in again.err) == (0, False), again.err
        assert "testvm can be logged in to" in again.err
        answered = home.virtctl("guestosinfo", "testvm")
        assert answered.code == 0, answered.err
        assert asyncio.run(ends(home)) == [happenings.SHUT_DOWN.message]


async def ends(home: TrialHome) -> list[str]:
    """How guests have ended, as it is told of them."""
    async with home.client() as client:
        events = (await client.list(EVENTS, "default")).items
    return [
        each.message or ""
        for each in events
        if each.involved_object.kind == "VirtualMachineInstance"
        and each.reason == happenings.SHUT_DOWN.reason
    ]
