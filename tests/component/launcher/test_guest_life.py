"""The life of a guest in a launcher as in production, with the test as its handler."""

import asyncio
import os
import shutil
from functools import partial

import pytest
from tests.component.launcher.world import Handler, World, launched, left_of, tiny_vmi

from kubevirt.components.launcher.notes import is_alive
from kubevirt.rpc import reports, stats
from kubevirt.rpc.errors import Refused

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it makes a container for each test"),
    pytest.mark.skipif(not shutil.which("bwrap"), reason="no bwrap: install bubblewrap"),
    pytest.mark.skipif(not shutil.which("libvirtd"), reason="no libvirtd: install libvirt-daemon"),
]


async def test_a_guest_is_started_killed_and_its_end_is_told() -> None:
    async with launched() as world:
        await world.runs()
        assert world.pid_of("qemu")
        assert world.note("qemu-pid")
        await world.launcher.kill(world.vmi())
        assert await world.ended() == 0
        first, *_, last = world.handler.states  # it may be seen on its way down
        assert (first, last) == ("ADDED Running", "DELETED Shutoff")
        assert world.handler.reports[-1][1].status.reason == reports.BY_DESTRUCTION
        assert world.note("ending") == "the guest was ended: virt-handler asked for it"


async def test_what_is_reported_says_whose_guest_it_is() -> None:
    async with launched() as world:
        assert await world.launcher.domain() == ""
        await world.runs()
        kind, report = world.handler.reports[0]
        assert kind == "ADDED"
        assert report.object_meta.name == "testvm"
        assert report.spec.name == "default_testvm"
        assert report.spec.type == "qemu"
        assert report.spec.metadata.kubevirt.uid == report.object_meta.uid
        assert reports.decoded(await world.launcher.domain()) == world.handler.reports[-1][1]


async def test_a_second_sync_changes_nothing_and_tells_nothing() -> None:
    async with launched() as world:
        await world.runs()
        qemu, told = world.pid_of("qemu"), len(world.handler.reports)
        await asyncio.gather(*(world.launcher.sync(world.vmi()) for _ in range(5)))
        assert world.pid_of("qemu") == qemu
        assert len(world.handler.reports) == told


async def test_two_syncs_at_once_start_one_guest() -> None:
    async with launched() as world:
        await asyncio.gather(*(world.launcher.sync(world.vmi()) for _ in range(4)))
        await world.handler.hears("Running")
        assert [kind for kind, _ in world.handler.reports] == ["ADDED"]


async def test_a_guest_is_paused_and_goes_on() -> None:
    async with launched() as world:
        await world.runs()
        for _ in range(2):  # asking twice is no mistake
            await world.launcher.pause(world.vmi())
        await world.handler.hears("Paused", "User")
        await world.launcher.unpause(world.vmi())
        await world.launcher.unpause(world.vmi())
        await world.handler.hears("Running", "Unpaused")


async def test_a_guest_that_starts_paused_waits_for_its_user() -> None:
    async with launched() as world:
        await world.launcher.sync(world.vmi(startStrategy="Paused"))
        await world.handler.hears("Paused")
        await world.launcher.sync(world.vmi(startStrategy="Paused"))
        assert world.handler.states == ["ADDED Paused"]
        await world.launcher.unpause(world.vmi())
        await world.handler.hears("Running")


async def test_a_reset_is_told_and_keeps_qemu() -> None:
    async with launched() as world:
        await world.runs()
        qemu = world.pid_of("qemu")
        assert world.handler.reports[-1][1].status.resets == 0
        await world.launcher.reset(world.vmi())
        await world.handler.told(lambda it: it.reports[-1][1].status.resets)
        assert world.pid_of("qemu") == qemu


async def test_a_guest_that_still_runs_is_not_deleted() -> None:
    async with launched() as world:
        await world.launcher.delete(world.vmi())  # there is none yet
        await world.runs()
        with pytest.raises(Refused, match="still runs"):
            await world.launcher.delete(world.vmi())


async def test_without_a_guest_calls_say_so() -> None:
    async with launched() as world:
        for call in (world.launcher.pause, world.launcher.reset, world.launcher.shut_down):
            with pytest.raises(Refused, match="there is no guest in this launcher"):
                await call(world.vmi())
        await world.launcher.ping()
        assert await world.launcher.versions() == ["v1"]


async def test_a_cable_is_pulled_out_and_plugged_in_while_the_guest_runs() -> None:
    async with launched() as world:
        await world.plug(default="tap0")

        def with_cable(state: str | None) -> bytes:
            card: dict[str, object] = {"name": "default", "masquerade": {}, "state": state}
            networks = [{"name": "default", "pod": {}}]
            return world.vmi(devices={"interfaces": [card]}, networks=networks)

        for state, link in ((None, None), ("down", "down"), ("up", "up"), ("down", "down")):
            for _ in range(2):
                await world.launcher.sync(with_cable(state))
            await world.handler.told(partial(has_cable, link))
        assert [kind for kind, _ in world.handler.reports] == ["ADDED", *["MODIFIED"] * 3]


def has_cable(link: str | None, handler: Handler) -> bool:
    if not handler.reports:
        return False
    [card] = handler.reports[-1][1].spec.devices.interfaces
    assert card.alias == reports.Alias(name="default", user_defined=True)
    return (card.link_state.state if card.link_state else None) == link


async def test_an_interface_that_nobody_connected_is_refused_by_name() -> None:
    async with launched() as world:
        card = {"name": "default", "masquerade": {}}
        networks = [{"name": "default", "pod": {}}]
        with pytest.raises(Refused, match="interface 'default' has no tap device"):
            await world.launcher.sync(world.vmi(devices={"interfaces": [card]}, networks=networks))


async def test_what_was_done_differently_than_asked_is_an_event_for_the_user() -> None:
    async with launched() as world:
        await world.runs(domain={"cpu": {"model": "host-passthrough"}})
        await world.handler.told(lambda it: it.events)
        [event] = world.handler.events
        assert event["involvedObject"]["kind"] == "VirtualMachineInstance"
        assert event["involvedObject"]["uid"] == world.uid
        assert "host-passthrough" in event["message"]


# What cannot become a guest.


async def test_a_refused_spec_leaves_nothing_and_the_next_one_starts() -> None:
    async with launched() as world:
        before = files(world)
        with pytest.raises(Refused, match="machine type 'nonsense'"):
            await world.launcher.sync(world.vmi(domain={"machine": {"type": "nonsense"}}))
        with pytest.raises(Refused, match=r"^the instance cannot be understood: .*\$"):
            await world.launcher.sync(b'{"spec": {"domain": 7}}')
        assert files(world) == before
        assert world.pid_of("qemu") is None
        await world.runs()


async def test_a_domain_that_libvirt_refuses_leaves_nothing_and_the_next_one_starts() -> None:
    async with launched() as world:
        scratch = {"name": "scratch", "emptyDisk": {"capacity": "1Mi"}}
        disks = [{"name": "scratch", "disk": {"bus": "virtio"}}]
        before = files(world)
        with pytest.raises(Refused) as refusal:
            await world.launcher.sync(
                world.vmi(
                    volumes=[scratch],
                    devices={"disks": disks},
                    domain={"cpu": {"features": [{"name": "abacus"}]}},
                )
            )
        # We know no features, so these are libvirt's own words.
        assert str(refusal.value) == (
            "cannot start the guest: unsupported configuration: unknown CPU feature: abacus"
        )
        assert files(world) == before
        await world.runs(volumes=[scratch], devices={"disks": disks})
        assert (world.folder / "ephemeral/empty-disks/scratch.qcow2").exists()


async def test_a_model_that_libvirt_does_not_know_is_refused_with_the_way_out() -> None:
    """To libvirt that was an internal error, so it was tried again for ever and nobody heard what to use instead."""
    async with launched() as world:
        with pytest.raises(Refused) as refusal:
            await world.launcher.sync(world.vmi(domain={"cpu": {"model": "no-such-cpu"}}))
        assert str(refusal.value) == (
            "the CPU model 'no-such-cpu' is not offered by this node; "
            "use host-model or one that the node lists under cpu-model.node.kubevirt.io"
        )


async def test_another_instance_of_the_same_name_is_refused() -> None:
    async with launched() as world:
        other = tiny_vmi()
        other["metadata"]["uid"] = "another"
        with pytest.raises(Refused, match="this launcher serves default/testvm with UID"):
            await world.launcher.sync(world.encoded(other))


def files(world: World) -> set[str]:
    """What a start may leave behind."""
    folders = (world.folder / "ephemeral", world.notes)
    return {
        str(each.relative_to(world.folder))
        for folder in folders
        for each in folder.rglob("*")
        if not each.is_dir() and each.name != "vmi.json"
    }


# What is known of it.


async def test_statistics_are_kubevirts() -> None:
    async with launched() as world:
        await world.runs()
        found = stats.decoded(await world.launcher.stats())
        assert found.name == "default_testvm"
        assert found.cpu.time
        assert len(found.vcpu) == 1
        assert found.memory.rss


async def test_a_screenshot_is_a_png() -> None:
    async with launched() as world:
        await world.runs()
        mime, data = await world.launcher.screenshot(world.vmi())
        assert mime == "image/png"
        assert data.startswith(b"\x89PNG\r\n")


async def test_qemu_has_a_version() -> None:
    async with launched() as world:
        assert (await world.launcher.qemu_version()).count(".") == 2


async def test_the_memory_of_a_guest_is_dumped_beside_everything_else() -> None:
    async with launched() as world:
        await world.runs()
        folder = world.folder / "private/dumps"
        folder.mkdir()
        os.chown(folder, 107, 107)
        path = "/var/run/kubevirt-private/dumps/one.memory.dump"
        await world.launcher.dump_memory(world.vmi(), path)
        await world.handler.told(lambda it: last_dump(it.reports[-1][1]).completed)
        dump = last_dump(world.handler.reports[-1][1])
        assert (dump.file_name, dump.failed) == ("one.memory.dump", False)
        assert dump.start_timestamp
        assert dump.end_timestamp
        assert (folder / "one.memory.dump").stat().st_size > 32 << 20
        await world.handler.hears("Running")
        with pytest.raises(Refused, match="no folder /nowhere"):
            await world.launcher.dump_memory(world.vmi(), "/nowhere/dump")


def last_dump(report: reports.Domain) -> reports.MemoryDump:
    return report.spec.metadata.kubevirt.memory_dump or reports.MemoryDump()


# Its end.


async def test_a_launcher_that_is_told_to_end_marks_the_guest_for_its_handler() -> None:
    async with launched() as world:
        await world.runs()
        world.terminate()
        await world.handler.told(lambda it: is_marked(it.reports[-1][1]))
        grace = world.handler.reports[-1][1].spec.metadata.kubevirt.grace_period
        assert grace
        assert grace.deletion_grace_period_seconds == 5
        assert grace.deletion_timestamp
        await world.launcher.kill(world.vmi())
        await world.ended()
        assert world.note("ending") == "the guest was ended: virt-handler asked for it"


def is_marked(report: reports.Domain) -> bool:
    grace = report.spec.metadata.kubevirt.grace_period
    return bool(grace and grace.marked_for_graceful_shutdown)


async def test_a_guest_that_does_not_listen_is_killed_at_the_end_of_its_grace() -> None:
    async with launched(standalone=True) as world:
        await world.runs(terminationGracePeriodSeconds=1)
        world.terminate()
        assert await world.ended() == 0
        assert world.note("ending") == "the guest was ended: it did not shut down within 1 s"


async def test_a_guest_without_grace_is_killed_at_once() -> None:
    async with launched() as world:
        await world.runs(terminationGracePeriodSeconds=0)
        world.terminate()
        await world.ended()
        assert world.note("ending") == "the guest was ended: it did not shut down within 0 s"
        assert world.handler.states[-1] == "DELETED Shutoff"


async def test_a_launcher_without_a_guest_ends_when_it_is_told_to() -> None:
    async with launched() as world:
        world.terminate()
        assert await world.ended() == 0
        assert "before it had a guest" in world.note("ending")


async def test_a_launcher_that_nobody_needs_ends_with_a_sentence() -> None:
    async with launched(qemu_timeout_s=1.0) as world:
        assert await world.ended() == 1
        expected = "no guest was started within 1 s: virt-handler did not ask for one"
        assert world.note("ending") == expected


async def test_a_launcher_whose_guest_was_refused_says_why_it_gave_up() -> None:
    async with launched(qemu_timeout_s=8.0) as world:
        with pytest.raises(Refused):
            await world.launcher.sync(world.vmi(domain={"machine": {"type": "nonsense"}}))
        assert await world.ended() == 1
        assert "within 8 s: machine type 'nonsense'" in world.note("ending")


async def test_nothing_is_left_of_a_launcher() -> None:
    async with launched() as world:
        await world.runs()
        pids = list(world.pids())
        assert len(pids) >= 4
        await world.launcher.kill(world.vmi())
        await world.ended()
        assert not [pid for pid in pids if is_alive(pid)]


async def test_what_is_left_of_a_launcher_would_be_seen() -> None:
    async with launched() as world:
        await world.runs()
        found = left_of(world.folder)
        for program in ("qemu-system", "libvirtd", "launcher.manager", str(world.folder)):
            assert any(program in each for each in found), (program, found)
