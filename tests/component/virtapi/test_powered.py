"""Start, stop and restart by kubectl, and what becomes of the machine."""

import asyncio
import json

import pytest
from tests.component.virtapi.machines import MERGE, Machines

from kubevirt.base.tasks import background

DRY = '{"dryRun": ["All"]}'


def said_of(name: str, message: str) -> str:
    return f'Operation cannot be fulfilled on virtualmachine.kubevirt.io "{name}": {message}'


async def test_a_halted_machine_is_started(machines: Machines) -> None:
    await machines.machine(runStrategy="Halted")
    said = await machines.put(machines.call("virtualmachines", "testvm", "start"))
    assert said.code == 0, said.stderr
    vm = await machines.get("virtualmachines", "testvm")
    assert vm["spec"]["runStrategy"] == "Always"


async def test_a_machine_that_others_write_to_again_and_again_is_started_all_the_same(
    machines: Machines,
) -> None:
    """Now and then it was refused: whoever looks after a machine wrote its status five times in a row."""
    await machines.machine(runStrategy="Halted")
    path = machines.path("virtualmachines", "testvm")

    async def write() -> None:
        for number in range(100):
            note = {"metadata": {"annotations": {"number": str(number)}}}
            await machines.client.raw("PATCH", path, note, content_type=MERGE)

    async with background(write(), write()):
        said = await machines.put(machines.call("virtualmachines", "testvm", "start"))
    assert said.code == 0, said.stderr
    vm = await machines.get("virtualmachines", "testvm")
    assert vm["spec"]["runStrategy"] == "Always"


async def test_options_that_are_null_are_none(machines: Machines) -> None:
    """As Go's clients send them that have none."""
    await machines.machine(runStrategy="Halted")
    said = await machines.put(machines.call("virtualmachines", "testvm", "start"), "null")
    assert said.code == 0, said.stderr


async def test_whoever_says_running_is_changed_by_it(machines: Machines) -> None:
    await machines.machine(running=False)
    await machines.put(machines.call("virtualmachines", "testvm", "start", "v1alpha3"))
    vm = await machines.get("virtualmachines", "testvm")
    assert (vm["spec"]["running"], "runStrategy" in vm["spec"]) == (True, False)
    await machines.put(machines.call("virtualmachines", "testvm", "stop"))
    vm = await machines.get("virtualmachines", "testvm")
    assert vm["spec"]["running"] is False


async def test_a_start_is_asked_of_the_controller(machines: Machines) -> None:
    await machines.machine(runStrategy="Manual")
    path = machines.call("virtualmachines", "testvm", "start")
    said = await machines.put(path, '{"paused": true}')
    assert said.code == 0, said.stderr
    vm = await machines.get("virtualmachines", "testvm")
    asked = [{"action": "Start", "data": {"paused": "true"}}]
    assert vm["status"]["stateChangeRequests"] == asked
    said = await machines.put(path)
    assert "unable to complete request: stop/start already underway" in said.stderr


async def test_a_machine_is_stopped_and_restarted(machines: Machines) -> None:
    vm = await machines.machine(runStrategy="Manual")
    vmi = await machines.instance(owner=vm)
    stop = {"action": "Stop", "uid": vmi["metadata"]["uid"]}
    said = await machines.put(machines.call("virtualmachines", "testvm", "restart"))
    assert said.code == 0, said.stderr
    vm = await machines.get("virtualmachines", "testvm")
    assert vm["status"]["stateChangeRequests"] == [stop, {"action": "Start"}]
    said = await machines.put(
        machines.call("virtualmachines", "testvm", "stop"), '{"gracePeriod": 7}'
    )
    assert said.code == 0, said.stderr
    vm = await machines.get("virtualmachines", "testvm")
    assert vm["status"]["stateChangeRequests"] == [stop]
    vmi = await machines.get("virtualmachineinstances", "testvm")
    assert vmi["spec"]["terminationGracePeriodSeconds"] == 7


async def test_a_forced_restart_takes_the_guests_time(machines: Machines) -> None:
    vm = await machines.machine(running=True)
    await machines.instance(owner=vm, spec={"terminationGracePeriodSeconds": 180})
    path = machines.call("virtualmachines", "testvm", "restart")
    said = await machines.put(path, '{"gracePeriodSeconds": 0}')
    assert said.code == 0, said.stderr
    vmi = await machines.get("virtualmachineinstances", "testvm")
    assert vmi["spec"]["terminationGracePeriodSeconds"] == 1


async def test_to_try_changes_nothing(machines: Machines) -> None:
    vm = await machines.machine(runStrategy="Manual")
    for what in ("start", "stop", "restart"):
        said = await machines.put(machines.call("virtualmachines", "testvm", what), DRY)
        assert (said.code == 0) == (what == "start"), said.stderr
    now = await machines.get("virtualmachines", "testvm")
    assert now["metadata"]["resourceVersion"] == vm["metadata"]["resourceVersion"]


@pytest.mark.parametrize(
    ("strategy", "what", "text"),
    [
        ("Always", "start", "Always does not support manual start requests"),
        ("Manual", "stop", "VM is not running"),
        ("Halted", "restart", "RunStategy Halted does not support manual restart requests"),
        ("Manual", "restart", "VM is not running: Halted"),
    ],
)
async def test_what_cannot_be_is_told(
    machines: Machines, strategy: str, what: str, text: str
) -> None:
    await machines.machine(runStrategy=strategy)
    said = await machines.put(machines.call("virtualmachines", "testvm", what))
    assert said.code == 1
    assert said_of("testvm", text) in said.stderr


async def test_nobody_starts_what_is_not_there(machines: Machines) -> None:
    said = await machines.put(machines.call("virtualmachines", "ghost", "start"))
    assert 'virtualmachine.kubevirt.io "ghost" not found' in said.stderr


async def test_a_body_that_cannot_be_read_is_told(machines: Machines) -> None:
    await machines.machine(runStrategy="Manual")
    path = machines.call("virtualmachines", "testvm", "start")
    said = await machines.put(path, '{"paused": "maybe"}')
    assert "Can not unmarshal Request body to struct, error: " in said.stderr


async def test_of_many_who_start_at_once_one_is_first(machines: Machines) -> None:
    await machines.machine(runStrategy="Manual")
    path = machines.call("virtualmachines", "testvm", "start")
    said = await asyncio.gather(*(machines.put(path) for _ in range(4)))
    assert sorted(each.code for each in said) == [0, 1, 1, 1]
    assert all("already underway" in each.stderr for each in said if each.code)


async def test_what_is_not_built_says_so(machines: Machines) -> None:
    await machines.machine(runStrategy="Manual")
    said = await machines.put(machines.call("virtualmachines", "testvm", "migrate"))
    assert "not built yet: live migration" in said.stderr


async def test_a_machine_is_expanded(machines: Machines) -> None:
    vm = await machines.machine(runStrategy="Manual")
    path = machines.call("virtualmachines", "testvm", "expand-spec")
    said = await machines.kubectl("get", "--raw", path)
    assert json.loads(said.stdout)["spec"] == vm["spec"]
    path = path.replace("virtualmachines/testvm/expand-spec", "expand-vm-spec")
    said = await machines.put(path, json.dumps({**vm, "metadata": {"name": "other"}}))
    assert json.loads(said.stdout)["metadata"]["namespace"] == machines.namespace
    said = await machines.put(path, '{"spec": 7}')
    assert "Object is not a valid VirtualMachine" in said.stderr
    body = {**vm, "metadata": {"name": "other", "namespace": "elsewhere"}}
    said = await machines.put(path, json.dumps(body))
    assert f"VM namespace must be empty or {machines.namespace}" in said.stderr
