"""virtctl and the real virt-api: what is done, and every refusal in its words with its exit code."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.component.cli.with_virt_api.conftest import LIMIT_S, Virtctl
from tests.component.virtapi.machines import Machines
from tests.component.virtapi.stand_in_handler import PICTURE, StandInHandler
from tests.unit.cli.create_vm_cases import Case, cases

from kubevirt.base import commands
from kubevirt.cli import exit_codes

PAUSED = {"type": "Paused", "status": "True", "reason": "PausedByUser"}


def of_vm(message: str) -> str:
    about = 'Operation cannot be fulfilled on virtualmachine.kubevirt.io "testvm"'
    return f"virtctl: {about}: {message}\n"


def of_vmi(message: str) -> str:
    about = 'Operation cannot be fulfilled on virtualmachineinstance.kubevirt.io "testvm"'
    return f"virtctl: {about}: {message}\n"


async def strategy(machines: Machines) -> str:
    return str((await machines.get("virtualmachines", "testvm"))["spec"]["runStrategy"])


async def test_a_machine_is_started_and_stopped(machines: Machines, virtctl: Virtctl) -> None:
    vm = await machines.machine(runStrategy="Halted")
    done = await virtctl("start", "testvm", "--dry-run")
    assert done.out == "Dry Run execution\nVM testvm was scheduled to start\n"
    assert await strategy(machines) == "Halted"
    done = await virtctl("start", "testvm")
    assert (done.code, done.out, done.err) == (0, "VM testvm was scheduled to start\n", "")
    assert await strategy(machines) == "Always"
    await machines.instance(owner=vm)
    done = await virtctl("start", "testvm")
    assert (done.code, done.err) == (exit_codes.CONFLICT, of_vm("VM is already running"))
    done = await virtctl("stop", "testvm")
    assert (done.code, done.out) == (0, "VM testvm was scheduled to stop\n")
    assert await strategy(machines) == "Halted"


@pytest.mark.parametrize(
    ("run_strategy", "words", "code", "said"),
    [
        ("Halted", ["stop", "testvm"], exit_codes.CONFLICT, of_vm("VM is not running")),
        (
            "Halted",
            ["restart", "testvm"],
            exit_codes.CONFLICT,
            of_vm("RunStategy Halted does not support manual restart requests"),
        ),
        (
            "Always",
            ["start", "testvm"],
            exit_codes.CONFLICT,
            of_vm("Always does not support manual start requests"),
        ),
        (
            "Always",
            ["restart", "testvm", "--force", "--grace-period=5"],
            exit_codes.FAILED,
            "virtctl: For force restart, only gracePeriod=0 is supported for now\n",
        ),
    ],
)
async def test_what_a_machine_cannot_do_is_said_in_kubevirts_words(
    machines: Machines,
    virtctl: Virtctl,
    run_strategy: str,
    words: list[str],
    code: int,
    said: str,
) -> None:
    await machines.machine(runStrategy=run_strategy)
    done = await virtctl(*words)
    assert (done.code, done.out, done.err) == (code, "", said)


async def test_a_machine_that_is_not_there_is_not_found(virtctl: Virtctl) -> None:
    done = await virtctl("start", "testvm")
    assert done.code == exit_codes.NOT_FOUND
    assert '"testvm" not found' in done.err


async def test_a_guest_is_paused_and_asked_to_reboot(
    machines: Machines, virtctl: Virtctl, handler: StandInHandler
) -> None:
    agent = {"type": "AgentConnected", "status": "True"}
    await machines.instance(conditions=[agent])
    for verb, path in (("pause", "pause"), ("soft-reboot", "softreboot"), ("reset", "reset")):
        words = ("vm", "testvm") if verb == "pause" else ("testvm",)
        done = await virtctl(verb, *words)
        assert (done.code, done.out) == (0, f"VMI testvm was scheduled to {verb}\n")
        assert handler.asked[-1][1].endswith(f"/testvm/{path}")
    done = await virtctl("unpause", "vmi", "testvm")
    assert (done.code, done.err) == (exit_codes.CONFLICT, of_vmi("VMI is not paused"))
    await machines.tell("testvm", conditions=[agent, PAUSED])
    done = await virtctl("pause", "vmi", "testvm")
    assert (done.code, done.err) == (exit_codes.CONFLICT, of_vmi("VMI is already paused"))


async def test_a_console_goes_through_both_servers(
    machines: Machines, virtctl: Virtctl, handler: StandInHandler
) -> None:
    await machines.instance()
    done = await virtctl("console", "testvm", stdin=b"uname -a\n")
    assert (done.code, done.out) == (0, "uname -a\n")
    done = await virtctl("console", "testvm", stdin=b"close")
    assert done.code == exit_codes.FAILED
    assert "the connection broke (code 4001)" in done.err


async def test_a_guest_without_a_serial_port_has_no_console(
    machines: Machines, virtctl: Virtctl
) -> None:
    domain: Any = {
        "devices": {"autoattachSerialConsole": False, "autoattachGraphicsDevice": False},
        "memory": {"guest": "64Mi"},
    }
    await machines.instance(spec={"domain": domain})
    done = await virtctl("console", "testvm")
    assert (done.code, done.err) == (1, "virtctl: No serial consoles are present.\n")
    done = await virtctl("vnc", "testvm", "--proxy-only")
    assert (done.code, done.err) == (1, "virtctl: No graphics devices are present.\n")


async def test_a_picture_of_the_screen_arrives_whole(
    machines: Machines, virtctl: Virtctl, handler: StandInHandler, tmp_path: Path
) -> None:
    await machines.instance()
    file = tmp_path / "a.png"
    assert (await virtctl("vnc", "screenshot", "testvm", "--file", str(file))).code == 0
    assert file.read_bytes() == PICTURE


async def test_the_agents_answers_are_shown(
    machines: Machines, virtctl: Virtctl, handler: StandInHandler
) -> None:
    await machines.instance()
    done = await virtctl("userlist", "testvm")
    assert done.code == exit_codes.FAILED
    assert "VMI does not have guest agent connected" in done.err
    await machines.tell("testvm", conditions=[{"type": "AgentConnected", "status": "True"}])
    done = await virtctl("userlist", "testvm")
    assert json.loads(done.out) == {"items": [{"userName": "root"}]}


async def test_a_port_of_the_guest_is_reached(machines: Machines, virtctl: Virtctl) -> None:
    """A server on the loopback address plays the guest."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello " + await reader.readline())
        await writer.drain()
        writer.close()

    vmi = await machines.instance(interfaces=[{"name": "default", "ipAddress": "127.0.0.1"}])
    await machines.pod(vmi, "127.0.0.1")
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        done = await virtctl("port-forward", "--stdio", "vmi/testvm", str(port), stdin=b"you\n")
        assert (done.code, done.out, done.err) == (0, "hello you\n", "")
        program, *rest = virtctl.argv("port-forward", "vmi/testvm", f"0:{port}")
        async with commands.stream(program, *rest, timeout_s=LIMIT_S) as lines:
            line = await anext(lines)
            local = int(line.split(":")[1].split()[0])
            reader, writer = await asyncio.open_connection("127.0.0.1", local)
            writer.write(b"there\n")
            assert await reader.read() == b"hello there\n"
            writer.close()
            await writer.wait_closed()
    finally:
        server.close()


async def test_a_paused_guest_has_no_ports(machines: Machines, virtctl: Virtctl) -> None:
    await machines.instance(
        interfaces=[{"name": "default", "ipAddress": "127.0.0.1"}], conditions=[PAUSED]
    )
    done = await virtctl("port-forward", "--stdio", "vmi/testvm", "22")
    assert (done.code, done.out) == (exit_codes.CONFLICT, "")
    assert "VMI is paused" in done.err


async def test_a_machine_is_expanded(machines: Machines, virtctl: Virtctl) -> None:
    await machines.machine(runStrategy="Halted")
    found = yaml.safe_load((await virtctl("expand", "--vm", "testvm")).out)
    assert found["metadata"]["name"] == "testvm"


async def test_versions_are_told(virtctl: Virtctl) -> None:
    done = await virtctl("version", "-o", "json")
    assert done.code == 0
    assert {"clientVersion", "serverVersion", "kubernetesVersion"} == set(json.loads(done.out))


async def test_who_may_not_is_told_so(
    machines: Machines, virtctl: Virtctl, users: Callable[[str], Path]
) -> None:
    await machines.machine(runStrategy="Halted")
    done = await virtctl("start", "testvm", user=users("jo"))
    assert done.code == exit_codes.NO_ACCESS
    assert 'User "jo" cannot' in done.err


MISSING = (
    "instance types are not built yet",
    "preferences are not built yet",
    "DataVolumes are not built yet",
    "cannot be set by the guest's agent yet",
)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
async def test_a_manifest_of_create_is_admitted_or_says_what_is_not_built(
    machines: Machines, case: Case
) -> None:
    manifest = case.manifest
    manifest["metadata"].pop("namespace", None)
    spec = manifest["spec"]
    insists = [
        each
        for each in ("instancetype", "preference")
        if each in spec and spec[each].get("inferFromVolumeFailurePolicy") != "Ignore"
    ]
    needs = insists or "dataVolumeTemplates" in spec
    done = await machines.kubectl(
        "create", "--dry-run=server", "-f", "-", stdin=yaml.safe_dump(manifest)
    )
    if needs or "qemuGuestAgent" in case.file.read_text():
        assert done.code != 0
        assert any(each in done.stderr for each in MISSING)
    else:
        assert done.code == 0, done.stderr


async def test_a_machine_that_boots_from_a_claim_is_created_and_applied(
    machines: Machines, virtctl: Virtctl
) -> None:
    """It was refused for what its manifest only tries: to infer an instance type."""
    created = await virtctl("create", "vm", "--name=testvm", "--volume-pvc=src:root")
    assert "inferFromVolume" in created.out
    for _ in range(2):
        done = await machines.kubectl("apply", "-f", "-", stdin=created.out)
        assert done.code == 0, done.stderr
        assert "Warning: spec.instancetype is left out" in done.stderr
        assert "Warning: spec.preference is left out" in done.stderr
    spec = (await machines.get("virtualmachines", "testvm"))["spec"]
    assert not {"instancetype", "preference"} & spec.keys()
    assert spec["template"]["spec"]["domain"]["memory"] == {"guest": "512Mi"}
    asked = await virtctl(
        "create", "vm", "--name=other", "--volume-pvc=src:root", "--infer-instancetype"
    )
    done = await machines.kubectl("apply", "-f", "-", stdin=asked.out)
    assert (done.code, "instance types are not built yet" in done.stderr) == (1, True)
