"""Network namespaces: opened in every way, entered by no thread but their own, gone when done."""

import asyncio
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.component.host.net_world import in_kernel, links_in, needs_root

from kubevirt.host.net import netns
from kubevirt.host.net.errors import NamespaceGone, NetworkFailed
from kubevirt.host.net.netns import Namespace

pytestmark = needs_root


@pytest.fixture
def namespace() -> Iterator[Namespace]:
    with Namespace.new() as made:
        yield made


def where() -> tuple[int, int]:
    found = os.stat("/proc/thread-self/ns/net")  # noqa: PTH116  # a link whose target is no path
    return found.st_dev, found.st_ino


async def test_work_runs_inside_and_the_caller_stays_outside(namespace: Namespace) -> None:
    before = where()
    assert await namespace.run(where) == namespace.identity != before
    assert namespace.call(where) == namespace.identity
    assert where() == before
    # The pool's threads serve others afterwards: none of them may be elsewhere.
    assert await asyncio.to_thread(where) == before


async def test_work_that_fails_leaves_nobody_inside(namespace: Namespace) -> None:
    def fail() -> None:
        raise ValueError("as planned")

    with pytest.raises(ValueError, match="as planned"):
        await namespace.run(fail)
    for thread in threading.enumerate():
        if thread.name == "netns":  # it has told its result and is on its way out
            thread.join(10)
            assert not thread.is_alive()


async def test_a_cancelled_caller_waits_for_the_work_that_has_begun(namespace: Namespace) -> None:
    begun, go_on, done = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        assert go_on.wait(10)
        done.set()

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(namespace.run(work))
        await asyncio.to_thread(begun.wait, 10)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        go_on.set()
    assert task.cancelled()
    assert done.is_set()


async def test_two_namespaces_do_not_see_each_other(namespace: Namespace) -> None:
    with Namespace.new() as other:
        in_kernel(namespace, lambda kernel: kernel.add_bridge("here", mac="02:00:00:00:00:07"))
        assert "here" in links_in(namespace)
        assert "here" not in links_in(other)
        settings = "net/ipv4/ip_forward"
        in_kernel(namespace, lambda kernel: kernel.set_setting(settings, "1"))
        assert in_kernel(namespace, lambda kernel: kernel.setting(settings)) == "1"
        assert in_kernel(other, lambda kernel: kernel.setting(settings)) == "0"


async def test_a_namespace_is_found_by_descriptor_process_and_path(
    namespace: Namespace, tmp_path: Path
) -> None:
    with Namespace.of_descriptor(namespace.fd) as same:
        assert same.identity == namespace.identity
    # A thread has a number as a process has, and its own namespace under it.
    with namespace.call(lambda: Namespace.of_process(threading.get_native_id())) as same:
        assert same.identity == namespace.identity
    path = tmp_path / "kept"
    namespace.keep(path)
    try:
        with Namespace.at(path) as same:
            assert same.identity == namespace.identity
    finally:
        netns.remove(path)
    assert not path.exists()
    netns.remove(path)


async def test_what_is_no_namespace_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NetworkFailed, match="is no network namespace"):
        Namespace.at(tmp_path / "file")
    with pytest.raises(NetworkFailed, match="is no network namespace"):
        Namespace.at("/proc/self/ns/mnt")
    with pytest.raises(NamespaceGone, match="there is no network namespace"):
        Namespace.at(tmp_path / "missing")
    with pytest.raises(NamespaceGone, match="its pod may have ended"):
        Namespace.of_process(2**22 - 1)


async def test_a_kept_namespace_outlives_its_handles(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    with Namespace.new() as made:
        identity = made.identity
        made.keep(path)
    try:
        with Namespace.at(path) as found:
            assert found.identity == identity
        with pytest.raises(FileExistsError), Namespace.new() as other:
            other.keep(path)
    finally:
        netns.remove(path)


IMPORT_COST = """
import sys
import kubevirt.host.net.{module}
print([name for name in sys.modules if name.startswith(("pyroute2", "structlog", "aiohttp"))])
"""


@pytest.mark.parametrize("module", ["netns", "dnsmasq", "resolver", "apply", "home", "pod"])
def test_nothing_heavy_is_imported_until_the_kernel_is_spoken_to(module: str) -> None:
    script = IMPORT_COST.format(module=module)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout.strip() == "[]"


WHOLE_LIBRARY = """
from kubevirt.host.net.kernel import Kernel
from kubevirt.host.net.netns import Namespace

def look():
    with Kernel() as kernel:
        return [link.name for link in kernel.links()]

with Namespace.new() as namespace:
    names = namespace.call(look)
import sys
light = [name for name in sys.modules if name.startswith("pyroute2")]
assert "pyroute2" not in light
assert not any("nl80211" in name for name in light)
import pyroute2
assert pyroute2.NDB and pyroute2.AsyncIPRoute
print(names)
"""


def test_whoever_needs_the_whole_netlink_library_still_gets_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WHOLE_LIBRARY],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert "'lo'" in done.stdout


@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv: install util-linux")
def test_a_user_without_rights_is_told_what_is_missing() -> None:
    script = """
from kubevirt.base.errors import UserError
from kubevirt.host.net.netns import Namespace
try:
    Namespace.new()
except UserError as error:
    print(error)
"""
    done = subprocess.run(
        ["setpriv", "--inh-caps=-all", "--bounding-set=-all", sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stdout.startswith("making a network namespace is not permitted; it needs root")
