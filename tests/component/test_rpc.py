"""Two programs over a unix socket: answers, refusals, silence. And the numbers that others rely on."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
import pytest_asyncio

from kubevirt.base.errors import UserError
from kubevirt.rpc import cmd, notify, serving
from kubevirt.rpc.calling import Caller
from kubevirt.rpc.errors import NoAnswer, Refused
from kubevirt.rpc.messages import cmd_info_pb2, cmd_pb2, notify_info_pb2, notify_pb2

VMI = b'{"metadata":{"name":"testvm"},"status":{"futureField":"kept"}}'


class Answering:
    """A launcher that knows four calls."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []

    async def info(self, _: cmd_info_pb2.CmdInfoRequest) -> cmd_info_pb2.CmdInfoResponse:
        return cmd_info_pb2.CmdInfoResponse(supportedCmdVersions=["1"])

    async def sync_virtual_machine(self, request: cmd_pb2.VMIRequest) -> cmd_pb2.Response:
        self.seen.append(request.vmi.vmiJson)
        return cmd_pb2.Response(success=True)

    async def pause_virtual_machine(self, _: cmd_pb2.VMIRequest) -> cmd_pb2.Response:
        raise UserError("the guest is paused already")

    async def get_domain(self, _: cmd_pb2.EmptyRequest) -> cmd_pb2.DomainResponse:
        raise UserError("there is no domain")

    async def reset_virtual_machine(self, _: cmd_pb2.VMIRequest) -> cmd_pb2.Response:
        raise ZeroDivisionError("a bug")

    async def ping(self, _: cmd_pb2.EmptyRequest) -> cmd_pb2.Response:
        await asyncio.Event().wait()
        return cmd_pb2.Response(success=True)


@pytest.fixture
def answering() -> Answering:
    return Answering()


@pytest_asyncio.fixture
async def launcher(answering: Answering, tmp_path: Path) -> AsyncIterator[cmd.Launcher]:
    path = str(tmp_path / "sock")
    services = {cmd.SERVICE: answering, cmd.INFO_SERVICE: answering}
    async with serving.serving(path, services), Caller(path, "the launcher") as caller:
        yield cmd.Launcher(caller)


async def test_a_vmi_arrives_byte_for_byte(launcher: cmd.Launcher, answering: Answering) -> None:
    assert await launcher.versions() == ["1"]
    await launcher.sync(VMI)
    assert answering.seen == [VMI]


@pytest.mark.parametrize("turns", range(4))
async def test_a_server_that_is_cancelled_while_it_starts_does_not_go_on(
    answering: Answering, tmp_path: Path, turns: int
) -> None:
    path = str(tmp_path / "sock")

    async def serve() -> None:
        async with serving.serving(path, {cmd.SERVICE: answering}):
            await asyncio.Event().wait()

    starting = asyncio.create_task(serve())
    for _ in range(turns):
        await asyncio.sleep(0)
    starting.cancel()
    with suppress(asyncio.CancelledError):
        await starting
    with socket.socket(socket.AF_UNIX) as caller, pytest.raises(OSError, match=r"refused|No such"):
        caller.connect(path)


async def test_what_the_owner_should_know_comes_with_a_good_answer(tmp_path: Path) -> None:
    class Noting:
        async def sync_virtual_machine(self, _: cmd_pb2.VMIRequest) -> cmd_pb2.Response:
            return cmd_pb2.Response(success=True, message="the CPU is emulated")

    path = str(tmp_path / "sock")
    async with serving.serving(path, {cmd.SERVICE: Noting()}), Caller(path, "it") as caller:
        assert await cmd.Launcher(caller).sync(VMI) == "the CPU is emulated"


async def test_a_refusal_is_raised_in_the_words_of_the_other_side(launcher: cmd.Launcher) -> None:
    with pytest.raises(Refused, match=r"^the guest is paused already$"):
        await launcher.pause(VMI)
    with pytest.raises(Refused, match=r"^there is no domain$"):
        await launcher.domain()


async def test_a_bug_over_there_is_logged_there_and_told_here(
    launcher: cmd.Launcher, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(Refused, match="a bug"):
        await launcher.reset(VMI)
    assert "ResetVirtualMachine" in caplog.text
    assert "ZeroDivisionError" in caplog.text


async def test_a_call_that_is_not_known_is_named(launcher: cmd.Launcher) -> None:
    with pytest.raises(Refused, match="the launcher does not know GetUsers"):
        await launcher.users()


async def test_silence_ends_at_the_limit(
    launcher: cmd.Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cmd, "SHORT_S", 0.2)
    with pytest.raises(NoAnswer, match=r"did not answer Ping within 0.2 s"):
        await launcher.ping()


async def test_a_launcher_that_is_too_busy_to_greet_quickly_is_waited_for(
    answering: Answering, tmp_path: Path
) -> None:
    """It was taken for dead after 50 ms, on a machine that had other work."""
    path, door = str(tmp_path / "sock"), str(tmp_path / "door")
    everybody_left = asyncio.Event()

    async def let_in_late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.5)
        theirs, ours = await asyncio.open_unix_connection(path)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(pass_on(reader, ours))
            tasks.create_task(pass_on(theirs, writer))
        everybody_left.set()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)

    services = {cmd.SERVICE: answering, cmd.INFO_SERVICE: answering}
    async with (
        serving.serving(path, services),
        await asyncio.start_unix_server(let_in_late, door),
    ):
        async with Caller(door, "the launcher") as caller:
            assert await cmd.Launcher(caller).versions() == ["1"]
        async with asyncio.timeout(60):
            await everybody_left.wait()


async def test_nobody_at_the_socket_is_said_at_once(tmp_path: Path) -> None:
    async with Caller(str(tmp_path / "nobody"), "the launcher") as caller:
        with pytest.raises(NoAnswer, match="the launcher is not there"):
            await cmd.Launcher(caller).ping()


async def test_a_launcher_that_comes_back_is_found_by_the_same_caller(
    answering: Answering, tmp_path: Path
) -> None:
    path = str(tmp_path / "sock")
    async with Caller(path, "the launcher") as caller:
        for _ in range(2):
            async with serving.serving(path, {cmd.SERVICE: answering}):
                await until_synced(cmd.Launcher(caller))
    assert len(answering.seen) == 2


async def until_synced(launcher: cmd.Launcher) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                await launcher.sync(VMI)
            except NoAnswer:
                await asyncio.sleep(0.02)
            else:
                return


async def test_a_path_too_long_for_an_address_is_reached_through_its_folder(
    answering: Answering, tmp_path: Path
) -> None:
    folder = tmp_path / ("kubernetes.io~empty-dir" * 5)
    folder.mkdir()
    assert len(str(folder / "launcher-sock")) > 107
    opened = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        path = f"/proc/self/fd/{opened}/launcher-sock"
        async with serving.serving(path, {cmd.SERVICE: answering}):
            assert (folder / "launcher-sock").is_socket()
            async with Caller(path, "the launcher") as caller:
                await cmd.Launcher(caller).sync(VMI)
    finally:
        os.close(opened)
    assert answering.seen == [VMI]


async def test_the_socket_is_its_owners_alone(answering: Answering, tmp_path: Path) -> None:
    path = tmp_path / "sock"
    async with serving.serving(str(path), {cmd.SERVICE: answering}):
        assert path.stat().st_mode & 0o077 == 0


async def test_a_socket_that_cannot_be_made_is_named(answering: Answering, tmp_path: Path) -> None:
    path = str(tmp_path / "missing" / "sock")
    with pytest.raises(OSError, match=r"cannot listen on .*missing"):
        async with serving.serving(path, {cmd.SERVICE: answering}):
            pass


class Hearing:
    """A handler that writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, bytes]] = []

    async def info(
        self, _: notify_info_pb2.NotifyInfoRequest
    ) -> notify_info_pb2.NotifyInfoResponse:
        return notify_info_pb2.NotifyInfoResponse(supportedNotifyVersions=["1"])

    async def handle_domain_event(
        self, request: notify_pb2.DomainEventRequest
    ) -> notify_pb2.Response:
        self.told.append((request.eventType, request.domainJSON))
        return notify_pb2.Response(success=True)

    async def handle_k8s_event(self, request: notify_pb2.K8sEventRequest) -> notify_pb2.Response:
        self.told.append(("event", request.eventJSON))
        return notify_pb2.Response(success=True)


async def test_a_handler_hears_domain_events_and_events_for_the_user(tmp_path: Path) -> None:
    hearing, path = Hearing(), str(tmp_path / "sock")
    services = {notify.SERVICE: hearing, notify.INFO_SERVICE: hearing}
    async with serving.serving(path, services), Caller(path, "the handler") as caller:
        handler = notify.Handler(caller)
        assert await handler.versions() == ["1"]
        await handler.domain_event("ADDED", b"{}")
        await handler.kubernetes_event(b'{"reason":"Started"}')
    assert hearing.told == [("ADDED", b"{}"), ("event", b'{"reason":"Started"}')]


def test_every_call_of_the_protocol_has_a_method_name_of_its_own() -> None:
    for service in (cmd.SERVICE, cmd.INFO_SERVICE, notify.SERVICE, notify.INFO_SERVICE):
        names = [serving.python_name(method.name) for method in service.methods]
        assert len(set(names)) == len(names)
        assert all(name.isidentifier() and name.islower() for name in names)
    assert serving.python_name("GetSEVInfo") == "get_sev_info"
    assert serving.python_name("SyncVirtualMachineCPUs") == "sync_virtual_machine_cpus"


FACTS = {
    "kubevirt.cmd.v1.VMIRequest": "vmi=1 options=2",
    "kubevirt.cmd.v1.VMI": "vmiJson=1",
    "kubevirt.cmd.v1.Response": "success=1 message=2",
    "kubevirt.cmd.v1.DomainResponse": "response=1 domain=2",
    "kubevirt.cmd.v1.DomainStatsResponse": "response=1 domainStats=2",
    "kubevirt.cmd.v1.ExecRequest": "domainName=1 Command=2 Args=3 timeoutSeconds=4",
    "kubevirt.cmd.v1.ExecResponse": "response=1 exitCode=2 stdOut=3",
    "kubevirt.cmd.v1.GuestPingRequest": "domainName=1 timeoutSeconds=2",
    "kubevirt.cmd.v1.FreezeRequest": "vmi=1 unfreezeTimeoutSeconds=2",
    "kubevirt.cmd.v1.MemoryDumpRequest": "vmi=1 dumpPath=2",
    "kubevirt.cmd.v1.ScreenshotResponse": "response=1 mime=2 data=3",
    "kubevirt.cmd.v1.VirtualMachineOptions": (
        "VirtualMachineSMBios=1 MemBalloonStatsPeriod=2 PreallocatedVolumes=3 topology=4 DisksInfo=5"
        " ExpandDisksEnabled=6 clusterConfig=7 interfaceDomainAttachment=8 interfaceMigration=9"
        " pluginsJson=10 GraceHostDeviceAliases=11"
    ),
    "kubevirt.cmd.v1.ClusterConfig": (
        "ExpandDisksEnabled=1 FreePageReportingDisabled=2 BochsDisplayForEFIGuests=3"
        " SerialConsoleLogDisabled=4 PCINUMAAwareTopologyEnabled=5 VGPULiveMigrationEnabled=6"
        " GraceIOVirtualizationEnabled=7"
    ),
    "kubevirt.cmd.v1.SMBios": "manufacturer=1 product=2 version=3 sku=4 family=5",
    "kubevirt.notify.v1.DomainEventRequest": "domainJSON=1 statusJSON=2 eventType=3",
    "kubevirt.notify.v1.K8sEventRequest": "eventJSON=1",
    "kubevirt.notify.v1.Response": "success=1 message=2",
    "kubevirt.cmd.info.CmdInfoResponse": (
        "supportedCmdVersions=1 supportedKubeVirtAPIVersions=2 supportedDomainVersions=3"
        " supportedDomainStatsVersions=4"
    ),
    "kubevirt.notify.info.NotifyInfoResponse": (
        "supportedNotifyVersions=1 supportedDomainVersions=2 supportedK8SMetaAPIVersions=3"
        " supportedK8SEventAPIVersions=4"
    ),
}


@pytest.mark.parametrize("name", FACTS)
def test_names_and_numbers_on_the_wire_are_kubevirts(name: str) -> None:
    files = (cmd_pb2, cmd_info_pb2, notify_pb2, notify_info_pb2)
    found = {
        message.full_name: message
        for each in files
        for message in each.DESCRIPTOR.message_types_by_name.values()
    }
    fields = found[name].fields
    assert " ".join(f"{field.name}={field.number}" for field in fields) == FACTS[name]


async def test_a_peer_that_speaks_no_grpc_is_no_answer(tmp_path: Path) -> None:
    path = str(tmp_path / "sock")

    async def talk_nonsense(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 smtp ready\r\n" * 10)
        writer.close()

    server = await asyncio.start_unix_server(talk_nonsense, path)
    async with server, Caller(path, "the launcher") as caller:
        with pytest.raises(NoAnswer):
            await cmd.Launcher(caller).ping()
