"""The process from its first line to its last: the lock, the parts, a signal, and everything in order again.

    python -m kubevirt.embedded --home /var/lib/kubevirt-embedded [--port N] [--nodes N] [--report FD]

`virtctl up` starts it (`daemon.py`), or calls `run` with a terminal to tell about progress.
"""

import argparse
import asyncio
import gc
import resource
import signal
import sys
from pathlib import Path
from time import monotonic
from typing import TextIO, cast

import msgspec

from kubevirt.base import log
from kubevirt.base.clock import SystemClock
from kubevirt.embedded.doctor import examining
from kubevirt.embedded.home import Home
from kubevirt.embedded.process import addresses, clearing, cluster, failures
from kubevirt.embedded.process.log_file import LogFile
from kubevirt.embedded.process.progress import Listener, Nobody, Pipe, Ready
from kubevirt.embedded.process.settings import STOP_S, Settings, Wishes, choose

COMPONENT = "kubevirt-embedded"

_log = log.get_logger(__name__)


def run(wishes: Wishes, listener: Listener, *, is_apart: bool) -> int:
    """Until a signal comes. `is_apart` is whether there is no terminal to talk to."""
    port = wishes.port or 0
    try:
        examining.check(Home(wishes.home))
        home = Home.make(wishes.home)
        with home.locked():
            settings = choose(wishes, home.choices)
            port = settings.port
            logs = log.configure(
                COMPONENT, stream=cast("TextIO", LogFile(home.log, takes_output=is_apart))
            )
            try:
                asyncio.run(_live(home, settings, listener))
            except BaseException as error:
                _log.error("the process ends", error=error)
                raise
            finally:
                logs.close()
    except Exception as error:  # noqa: BLE001  # whatever it is, it is told
        listener.hear(failures.told(error, wishes.home, port))
        return 1
    return 0


async def _live(home: Home, settings: Settings, listener: Listener) -> None:
    began, clock = monotonic(), SystemClock()
    _open_many_files()
    ended, hurry = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def heed() -> None:
        """The second one says that it takes too long."""
        (hurry if ended.is_set() else ended).set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, heed)
    entry = await addresses.take(home, settings.pods, settings.services)
    ranges = {"pods": entry.pods, "services": entry.services}
    settings = msgspec.structs.replace(settings, **ranges)
    home.remember(msgspec.structs.replace(home.choices, **ranges))
    async with cluster.running(home, settings, listener, clock) as parts:
        home.remember(settings.choices)
        ready = Ready(
            url=settings.url,
            kubeconfig=str(home.kubeconfig),
            nodes=settings.nodes,
            took_s=round(monotonic() - began, 3),
        )
        listener.hear(ready)
        _log.info("ready", url=settings.url, took_s=ready.took_s)
        _settle()
        await ended.wait()
        _log.info("stopping")
        await parts.stop(STOP_S, hurry)
    await clearing.clear_machine(home)
    home.leave()
    _log.info("stopped")


def _open_many_files() -> None:
    """As many as the system lets us: each client that watches has one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _settle() -> None:
    """What a start leaves goes, what is here then stays: the collector need not look at it ever again."""
    gc.collect()
    gc.freeze()
    gc.enable()


def main() -> int:
    parser = argparse.ArgumentParser(prog="kubevirt.embedded")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--port", type=int)
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--report", type=int, help="an open file that is told about progress")
    given = parser.parse_args()
    listener = Nobody() if given.report is None else Pipe(given.report)
    wishes = Wishes(home=given.home, port=given.port, nodes=given.nodes)
    return run(wishes, listener, is_apart=True)


if __name__ == "__main__":
    sys.exit(main())
