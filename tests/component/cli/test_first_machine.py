"""How `make up` waits for its machine: no longer than it says, and in the end it says what was in the way."""

import asyncio
import time

import pytest
from scripts import first_vm
from tests.component.cli.conftest import Json, Place

from kubevirt.base.errors import UserError
from kubevirt.cli.asking import Session
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client

LIMIT_S = 3.0
LONG_S = 9.0
"""Where it matters when something ends, so that a busy machine is not taken for a limit that was forgotten."""


def agent(status: str) -> Json:
    return {"phase": "Running", "conditions": [{"type": "AgentConnected", "status": status}]}


async def waited(place: Place, limit_s: float = LIMIT_S) -> str:
    """The words with which it gives up."""
    async with Client(kubeconfig.load([place.server.kubeconfig], {})) as client:
        with pytest.raises(UserError) as error:
            await first_vm.until_booted(Session(client, place.namespace), "testvm", limit_s)
    return str(error.value)


def a_guest_that_does_not_answer(place: Place) -> None:
    place.instance("testvm")
    place.tell_instance("testvm", agent("True"))
    what = f"GET {place.below('vmi', 'testvm', 'guestosinfo')}"
    place.virt_api.refuse(what, 503, "the agent of the guest is silent", "ServiceUnavailable")


def test_what_the_guest_answered_last_is_told(place: Place) -> None:
    a_guest_that_does_not_answer(place)
    said = asyncio.run(waited(place))
    assert "the guest of testvm has not answered within 3 s" in said
    assert "the agent of the guest is silent" in said
    assert "virtctl console testvm" in said


def test_an_agent_that_goes_again_is_waited_for_no_longer_than_the_rest_of_the_time(
    place: Place,
) -> None:
    """Each wait had the whole limit for itself, so in the worst case it took twice as long as was said."""
    a_guest_that_does_not_answer(place)

    async def gone_late() -> str:
        async with asyncio.TaskGroup() as tasks:
            waits = tasks.create_task(waited(place, LONG_S))
            await asyncio.sleep(2 / 3 * LONG_S)  # of the time that is tried, two thirds
            assert not waits.done()
            await asyncio.to_thread(place.tell_instance, "testvm", agent("False"))
        return waits.result()

    began = time.monotonic()
    said = asyncio.run(gone_late())
    assert time.monotonic() - began < 1.5 * LONG_S
    assert "the agent of the guest is silent" in said


def test_of_a_guest_that_never_boots_its_state_is_told(place: Place) -> None:
    place.instance("testvm")
    place.tell_instance("testvm", agent("False"))
    said = asyncio.run(waited(place))
    assert "VirtualMachineInstance testvm is not booted after 3 s: it is Running" in said
