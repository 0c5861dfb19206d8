"""The image of virt-launcher: the built-in one, with the program in it and nothing else of the machine."""

import itertools
from pathlib import Path

import pytest
from tests.component.embedded.runtime.containers import IS_ROOT, ONLY_ROOT, ran, said, shell
from tests.component.host.libvirt_world import needs_libvirt

import kubevirt
from kubevirt.base.clock import Clock
from kubevirt.embedded.node.neighbours import Image
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.container import Rights
from kubevirt.embedded.runtime.images.settings import ImageSettings
from kubevirt.embedded.runtime.images.store import ImageStore
from kubevirt.embedded.runtime.keeper import Keeper

pytestmark = pytest.mark.skipif(not IS_ROOT, reason=ONLY_ROOT)

QEMU = Rights(user=107, group=107, capabilities=())
_NUMBERS = itertools.count()
NOBODY_SEES = ("/root", "/home", "/work", "/run", "/var/lib", "/srv", "/mnt", "/media")


@pytest.fixture
async def image(tmp_path: Path, clock: Clock) -> Image:
    store = ImageStore(ImageSettings(folder=tmp_path / "images"), clock)
    return await store.get("kubevirt/virt-launcher", "IfNotPresent")


async def told(
    image: Image, attempts: Path, keeper: Keeper, script: str, rights: Rights = QEMU
) -> str:
    attempt = Attempt(attempts / f"attempt-{next(_NUMBERS)}")
    await ran(attempt, shell(script, mounts=image.mounts, rights=rights), keeper)
    return said(attempt)


async def test_the_program_is_where_its_pod_looks_for_it(
    image: Image, attempts: Path, keeper: Keeper
) -> None:
    script = "/usr/bin/virt-launcher --help && virt-probe --help && echo both"
    answer = await told(image, attempts, keeper, script)
    assert "--qemu-timeout" in answer
    assert answer.endswith("both")


async def test_all_that_a_launcher_starts_finds_its_packages(
    image: Image, attempts: Path, keeper: Keeper
) -> None:
    """Isolated, as the launcher starts its manager: variables of a user count for nothing."""
    script = (
        "/opt/kubevirt/bin/python3 -I -c "
        "'import sys, kubevirt.components.launcher.manager, libvirt; print(kubevirt.__file__, sys.prefix)'"
    )
    answer = await told(image, attempts, keeper, script)
    assert answer.split() == [
        ("/opt/kubevirt/source" if _is_checkout() else "/opt/kubevirt/packages")
        + "/kubevirt/__init__.py",
        "/opt/kubevirt",
    ]


def _is_checkout() -> bool:
    return "site-packages" not in kubevirt.__file__


ASKS_QEMU = """
import asyncio, os, sys
from pathlib import Path
from kubevirt.base.clock import SystemClock
from kubevirt.components.launcher.flags import LEARNED
from kubevirt.host.libvirt.connection import connect
from kubevirt.host.libvirt.arrival import wait_for_socket
from kubevirt.host.libvirt.daemon import Daemon, DaemonSettings

daemon = Daemon(DaemonSettings(home="/tmp/libvirt", capabilities_seed=LEARNED, emulated=True))
daemon.prepare()
known = {path: path.stat().st_mtime_ns for path in daemon.capabilities.iterdir()}
os.spawnve(os.P_NOWAIT, daemon.argv[0], daemon.argv, daemon.environment)


async def ask():
    await wait_for_socket(daemon.socket, clock=SystemClock(), limit_s=60)
    async with connect(daemon.socket, clock=SystemClock(), limit_s=60) as libvirt:
        await libvirt.call("ask", lambda it: it.getDomainCapabilities(None, "x86_64", None, "qemu", 0), limit_s=60)


asyncio.run(ask())
print(len(known), known == {path: path.stat().st_mtime_ns for path in daemon.capabilities.iterdir()})
"""


@needs_libvirt
async def test_a_launcher_believes_what_its_home_has_learned_of_qemu(
    tmp_path: Path, attempts: Path, keeper: Keeper, clock: Clock
) -> None:
    """A file is written anew when libvirt does not believe what is in it."""
    store = ImageStore(ImageSettings(folder=tmp_path / "images"), clock)
    image = await store.get("kubevirt/virt-launcher", "IfNotPresent")
    await store.learn()
    script = f"/opt/kubevirt/bin/python3 -I -c '{ASKS_QEMU}' 2>/dev/null"
    assert await told(image, attempts, keeper, script) == "1 True"


async def test_everything_of_the_built_in_image_is_there(
    image: Image, attempts: Path, keeper: Keeper
) -> None:
    answer = await told(
        image, attempts, keeper, "command -v qemu-img; command -v libvirtd; ls /etc"
    )
    assert answer.split()[:2] == ["/usr/bin/qemu-img", "/usr/sbin/libvirtd"]
    assert "passwd" in answer


async def test_nothing_else_of_the_machine_is_seen(
    image: Image, attempts: Path, keeper: Keeper, treasure: Path
) -> None:
    places = " ".join(NOBODY_SEES)
    root = Rights()
    answer = await told(
        image, attempts, keeper, f"ls -A {places} 2>/dev/null; ls /opt; ls /opt/kubevirt", root
    )
    lines = [line for line in answer.splitlines() if line and not line.endswith(":")]
    assert lines == ["kubevirt", "bin", "lib", "packages", "pyvenv.cfg", "source"]
    checkout = Path(kubevirt.__file__).parents[2]
    seen = await told(image, attempts, keeper, f"ls {checkout} {checkout.parent} 2>&1", root)
    assert "No such file" in seen


async def test_not_even_root_writes_to_what_others_use_too(
    image: Image, attempts: Path, keeper: Keeper
) -> None:
    script = "; ".join(
        f"touch {place}/mine 2>&1"
        for place in (
            *("/usr", "/usr/bin", "/opt/kubevirt", "/opt/kubevirt/packages"),
            *("/opt/kubevirt/source/kubevirt", "/opt/kubevirt/bin"),
        )
        if _is_checkout() or "source" not in place
    )
    answer = await told(image, attempts, keeper, script, Rights())
    assert answer.count("Read-only file system") == script.count("touch")
