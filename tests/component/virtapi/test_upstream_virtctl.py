"""What upstream's own virtctl 1.6.0 asked when it was run against an embedded home: it has to be answered as it expects.

Methods and paths are as they were recorded, bodies as its source writes them. The program itself is in
`tests/e2e/vms/test_upstream_virtctl.py`, which takes minutes to build it.
"""

import re
from typing import Any

import msgspec
from tests.component.virtapi.machines import Machines
from tests.component.virtapi.place import GROUP_PATH
from tests.component.virtapi.stand_in_handler import PICTURE, StandInHandler

ACCEPTED = "application/json, */*"
SEMANTIC = re.compile(r"v(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
AGENT = [{"type": "AgentConnected", "status": "True"}]
VMI, VM = "virtualmachineinstances", "virtualmachines"


async def asked(machines: Machines, method: str, path: str, body: Any = None) -> bytes:
    path, _, query = path.partition("?")
    params = dict(each.split("=") for each in query.split("&")) if query else {}
    return await machines.client.raw(method, path, body, params=params, accept=ACCEPTED)


async def test_its_version_check_reads_the_group_first(machines: Machines) -> None:
    group = msgspec.json.decode(await asked(machines, "GET", GROUP_PATH))
    preferred = group["preferredVersion"]["groupVersion"]
    told = msgspec.json.decode(await asked(machines, "GET", f"/apis/{preferred}/version"))
    assert SEMANTIC.fullmatch(told["gitVersion"])


async def test_its_calls_of_a_machine_are_answered(machines: Machines) -> None:
    await machines.machine(runStrategy="Halted")
    for what in ("start", "stop"):
        assert await asked(machines, "PUT", machines.call(VM, "testvm", what), {}) == b""
    expanded = await asked(machines, "GET", machines.call(VM, "testvm", "expand-spec"))
    assert msgspec.json.decode(expanded)["kind"] == "VirtualMachine"


async def test_its_calls_of_a_guest_are_answered(
    machines: Machines, handler: StandInHandler
) -> None:
    await machines.instance(conditions=AGENT)
    for what, body in (("pause", {}), ("softreboot", None), ("reset", None)):
        assert await asked(machines, "PUT", machines.call(VMI, "testvm", what), body) == b""
    for what in ("guestosinfo", "userlist", "filesystemlist"):
        said = await asked(machines, "GET", machines.call(VMI, "testvm", what))
        assert isinstance(msgspec.json.decode(said), dict)
    screen = machines.call(VMI, "testvm", "vnc/screenshot?moveCursor=false")
    assert await asked(machines, "GET", screen) == PICTURE
    assert len(handler.asked) == 7
