"""A guest whose agent has gone mad, or has gone quiet: whoever asks hears so in time, and all else works."""

import asyncio
import signal
from collections.abc import Awaitable, Callable

import pytest
from bench.launcher.processes import MANAGER, processes_of, pss_bytes
from tests.e2e.nouns.guests import Guest, Spec, running
from tests.e2e.standalone.driver import Machine

from kubevirt.base.errors import KubevirtError
from kubevirt.base.files import Root
from kubevirt.rpc.calling import Caller
from kubevirt.rpc.cmd import Launcher

pytestmark = pytest.mark.timeout(180)

PORT = "/dev/virtio-ports/org.qemu.guest_agent.0"
DOMAIN = "default_testvm"
GRACE = {"terminationGracePeriodSeconds": 30}

BEHAVIOURS = {
    "lines of garbage for ever": f"yes garbage > {PORT}",
    "one line that never ends": f"tr '\\000' x < /dev/zero > {PORT}",
    "nothing at all": f"sleep 100000 < {PORT}",
}


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_an_agent_that_is_none_harms_nobody(machine: Machine, behaviour: str) -> None:
    with running(machine, Spec(instance=GRACE)) as guest:
        guest.run("sudo killall qemu-ga; sleep 0.2; pgrep qemu-ga || true")
        guest.run(f'{{ sudo sh -c "{BEHAVIOURS[behaviour]}" >/dev/null 2>&1 & }}')
        assert _asked(guest, lambda it: it.exec(DOMAIN, "/bin/true", [], 3)) != "done"
        assert _asked(guest, lambda it: it.guest_ping(DOMAIN, 3)) != "done"
        assert _asked(guest, lambda it: it.stats()) == "done"
        manager = processes_of(guest.session.process.pid)[MANAGER].pid
        assert pss_bytes(manager) < 80e6, "what the agent says is not kept"
        # ACPI, as the agent does not help.
        guest.session.send(signal.SIGTERM)
        assert guest.session.ended() == 0


def _asked(guest: Guest, question: Callable[[Launcher], Awaitable[object]]) -> str:
    """`done`, or why not."""

    async def ask() -> str:
        with (
            Root.open(guest.folder / "share/sockets") as sockets,
            sockets.connectable("launcher-sock") as address,
        ):
            async with Caller(address, "the launcher") as caller:
                try:
                    await question(Launcher(caller))
                except KubevirtError as error:
                    return str(error)
                return "done"

    return asyncio.run(ask())
