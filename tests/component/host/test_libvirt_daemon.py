"""The daemon itself: where it lives, what it learns, what it leaves out."""

import asyncio
import re
import shutil
import sys
import time
from pathlib import Path

import pytest
from tests.component.host.libvirt_world import a_guest, needs_libvirt, world

from kubevirt.base.errors import ConfigError
from kubevirt.host.libvirt.daemon import Daemon, DaemonSettings
from kubevirt.host.libvirt.domain import create
from kubevirt.host.libvirt.errors import UnsupportedCallError

pytestmark = needs_libvirt

CUSTOM = """<cpu mode='custom' match='exact'>
    <model>qemu64</model>
    <feature policy='require' name='avx2'/>
    <feature policy='disable' name='erms'/>
    </cpu>"""


def a_daemon(home: Path, program: str = "/usr/sbin/libvirtd", seed: Path | None = None) -> Daemon:
    seed_folder = None if seed is None else str(seed)
    return Daemon(DaemonSettings(home=str(home), program=program, capabilities_seed=seed_folder))


def test_a_home_that_is_too_deep_for_sockets_is_refused_before_anything_starts() -> None:
    a_daemon(Path("/var/run/libvirt"))
    with pytest.raises(ConfigError, match="13 characters too long for the sockets of a guest"):
        a_daemon(Path("/var/run/kubevirt-private/libvirt/x12"))


def test_virtqemud_has_its_own_names() -> None:
    daemon = a_daemon(Path("/run/x"), "/usr/sbin/virtqemud")
    assert daemon.socket == Path("/run/x/run/libvirt/virtqemud-sock")
    assert "/run/x/libvirt/virtqemud.conf" in daemon.argv
    assert "listen" not in daemon._daemon_config()
    assert "listen_tcp = 0" in a_daemon(Path("/run/x"))._daemon_config()


def test_preparing_again_changes_nothing_that_matters(tmp_path: Path) -> None:
    home = Path("/tmp") / f"kv-{tmp_path.name[-8:]}"
    daemon = a_daemon(home)
    try:
        daemon.prepare()
        kept = daemon.capabilities / "known.xml"
        kept.write_text("learned")
        seed = tmp_path / "seed"
        seed.mkdir()
        (seed / "known.xml").write_text("older")
        (seed / "new.xml").write_text("seeded")
        a_daemon(home, seed=seed).prepare()
        assert kept.read_text() == "learned"
        assert (daemon.capabilities / "new.xml").read_text() == "seeded"
    finally:
        shutil.rmtree(home)


@pytest.mark.parametrize("emulated", [True, False])
def test_only_emulated_processors_are_looked_at_in_few_words(
    tmp_path: Path, *, emulated: bool
) -> None:
    """With KVM libvirt has to ask for each feature: it would take those of Hyper-V for missing."""
    home = Path("/tmp") / f"kv-{tmp_path.name[-8:]}"
    daemon = Daemon(DaemonSettings(home=str(home), emulated=emulated))
    try:
        daemon.prepare()
        written = (home / "libvirt/qemu.conf").read_text()
    finally:
        shutil.rmtree(home)
    assert ('capability_filters = ["cpu-unavailable-features"]' in written) == emulated


def test_the_environment_holds_nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    environment = a_daemon(Path("/run/x")).environment
    assert "SECRET_TOKEN" not in environment
    assert set(environment) >= {"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "HOME"}


async def test_what_one_daemon_learned_spares_the_next_one_from_asking_qemu(
    tmp_path: Path,
) -> None:
    async with world() as first:
        await first.start_daemon()
        async with first.connected() as connection:
            await create(connection, a_guest())
        learned = _contents(first.daemon.capabilities)
        _write(tmp_path, learned)
    assert learned
    async with world(seed=tmp_path) as second:
        await second.start_daemon()
        began = time.time()
        async with second.connected() as connection:
            await create(connection, a_guest())
        assert _contents(second.daemon.capabilities) == learned
        # libvirt writes the file anew when it does not believe what is in it.
        assert all(each.stat().st_mtime < began for each in second.daemon.capabilities.iterdir())


async def test_who_learns_for_others_ends_with_whoever_wanted_it_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    """As when a home is killed in its first second."""
    words = [sys.executable, "-I", "-m", "kubevirt.host.libvirt.learning", str(tmp_path)]
    starter = f"import subprocess, time; print(subprocess.Popen({words}).pid, flush=True); time.sleep(600)"
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", starter, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(120):
        assert parent.stdout is not None
        learner = Path("/proc") / (await parent.stdout.readline()).decode().strip()
        while not (found := _folders_of(learner)) and learner.exists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert found
        parent.kill()
        await parent.wait()
        while learner.exists() or any(each.exists() for each in found):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def _folders_of(process: Path) -> list[Path]:
    """That its sandbox has a part of, named in the sandbox's command line."""
    try:
        children = (process / "task" / process.name / "children").read_text().split()
        lines = [Path(f"/proc/{each}/cmdline").read_bytes().decode() for each in children]
    except OSError:
        return []
    words = [word for line in lines for word in line.split("\0")]
    return [Path(word) for word in words if re.fullmatch("/tmp/kvl-[^/]+", word)]


async def test_only_qemus_driver_is_there() -> None:
    async with world() as it:
        await it.start_daemon()
        async with it.connected() as connection:
            with pytest.raises(UnsupportedCallError):
                await connection.call(
                    "list networks",
                    lambda it: it.listAllNetworks(),  # type: ignore[attr-defined]  # no stub: never used
                )


async def test_the_daemon_listens_at_its_socket_only() -> None:
    async with world() as it:
        await it.start_daemon()
        assert await it.run("cat /proc/net/tcp /proc/net/tcp6 /proc/net/udp | grep -vc sl") == "0"


def _contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def _write(folder: Path, contents: dict[str, bytes]) -> None:
    for name, data in contents.items():
        (folder / name).write_bytes(data)


@pytest.mark.parametrize("cpu", ["<cpu mode='maximum'/>", CUSTOM], ids=["maximum", "custom"])
async def test_an_emulated_processor_is_seen_the_same_though_it_is_looked_at_in_few_words(
    cpu: str,
) -> None:
    seen = []
    for emulated in (False, True):
        async with world(emulated=emulated) as it:
            await it.start_daemon()
            async with it.connected() as connection:
                guest = await create(
                    connection, a_guest().replace("<features>", f"{cpu}<features>")
                )
                seen.append((await guest.read()).cpu)
    assert seen[0] == seen[1]
