"""The process from its first line to its last: the lock, the parts, a signal, and everything in order again.

    python -m kubevirt.embedded --home /var/lib/kubevirt-embedded [--port N] [--nodes N] [--report FD]

`virtctl up` starts it (`daemon.py`), or calls `run` with a terminal to tell about progress.
"""

import argparse
import asyncio
import gc
import os
import signal
import sys
from asyncio import sslproto
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import TextIO, cast

import msgspec

from kubevirt.base import log, open_files
from kubevirt.base.clock import SystemClock
from kubevirt.base.errors import ConfigError, KubevirtError
from kubevirt.base.tasks import Latch
from kubevirt.embedded.doctor import needs
from kubevirt.embedded.home import Home
from kubevirt.embedded.process import addresses, clearing, cluster, failures
from kubevirt.embedded.process.log_file import LogFile
from kubevirt.embedded.process.progress import Listener, Nobody, Pipe, Ready
from kubevirt.embedded.process.settings import STOP_S, Settings, Wishes, choose
from kubevirt.embedded.programs import sighted

COMPONENT = "kubevirt-embedded"

_log = log.get_logger(__name__)


def run(wishes: Wishes, listener: Listener, *, is_apart: bool) -> int:
    """Until a signal comes. `is_apart` is whether there is no terminal to talk to."""
    port = wishes.port or 0
    os.umask(0o022)  # whoever started us: containers of other users look into folders that we make
    try:
        needs.check(Home(wishes.home))
        home = Home.make(wishes.home)
        with home.locked():
            settings = choose(wishes, home.choices)
            port = settings.port
            _check_nodes(home, settings)
            logs = log.configure(
                COMPONENT, stream=cast("TextIO", LogFile(home.log, takes_output=is_apart))
            )
            try:
                asyncio.run(_live(home, settings, listener, logs))
            except BaseException as error:
                _log.error("the process ends", error=error)
                raise
            finally:
                logs.close()
    except Exception as error:  # noqa: BLE001  # whatever it is, it is told
        listener.hear(failures.told(error, wishes.home, port))
        return 1
    return 0


def _check_nodes(home: Home, settings: Settings) -> None:
    """Nobody would find the pods of a node again that is not brought up."""
    died = home.process
    if died and died.is_of_this_boot and died.nodes != settings.nodes:
        raise ConfigError(
            f"{home.path} had {len(died.nodes)} nodes when its process died, whose pods may still run; "
            f"bring it up with --nodes {len(died.nodes)}, or clear it away first with: virtctl down"
        )


async def _live(home: Home, settings: Settings, listener: Listener, logs: log.Logs) -> None:
    began, clock = monotonic(), SystemClock()
    open_files.open_many()
    _read_in_small_pieces()
    ended, hurry = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def heed() -> None:
        """The second one says that it takes too long."""
        (hurry if ended.is_set() else ended).set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, heed)
    if home.process:  # it died
        await asyncio.to_thread(sighted.end_all, home)
    settings = await _with_addresses(home, settings)
    if home.process and home.choices.nodes > len(settings.nodes):
        await clearing.clear(home)  # addresses of pods that no node will find again
    async with _cleared_if_it_fails(home) as started:
        async with cluster.running(home, settings, listener, logs, clock) as parts:
            started.open()
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
            home.begin_to_leave()
            _log.info("stopping")
            await parts.stop(STOP_S, hurry)
        await clearing.clear_machine(home)
        home.leave()
        _log.info("stopped")


async def _with_addresses(home: Home, settings: Settings) -> Settings:
    entry = await addresses.take(home, settings.pods, settings.services)
    ranges = {"pods": entry.pods, "services": entry.services}
    # At once: Services have addresses from them as soon as there is a store.
    home.remember(msgspec.structs.replace(home.choices, **ranges))
    return msgspec.structs.replace(settings, **ranges)


@asynccontextmanager
async def _cleared_if_it_fails(home: Home) -> AsyncIterator[Latch]:
    """A start that comes to nothing leaves nothing, unless a process that died had left something before:
    pods go on then. The latch is for when it has come to something.
    """
    started, was_clear = Latch(), home.process is None
    try:
        yield started
    except Exception:
        if was_clear and not started.is_open and home.process:
            await _clear_what_can_be(home)
        raise


async def _clear_what_can_be(home: Home) -> None:
    """What the start failed for is told, not what else fails for the same reason."""
    try:
        await clearing.clear(home)
    except* (KubevirtError, OSError) as errors:
        _log.error("not all of it is cleared away", error=errors)
    else:
        home.leave()


def _read_in_small_pieces() -> None:
    """For what one end of a connection may say at a time, asyncio sets aside 256 KiB. Both ends of some
    fifty are in this process, and a watch says a few kilobytes.
    """
    sslproto.SSLProtocol.max_size = 16 << 10


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
    parser.add_argument("--without-kubevirt", action="store_true")
    parser.add_argument("--separate", action=argparse.BooleanOptionalAction)
    parser.add_argument("--archives", type=Path, action="append", default=[])
    parser.add_argument("--report", type=int, help="an open file that is told about progress")
    given = parser.parse_args()
    listener = Nobody() if given.report is None else Pipe(given.report)
    wishes = Wishes(
        home=given.home.absolute(),
        port=given.port,
        nodes=given.nodes,
        has_kubevirt=not given.without_kubevirt,
        is_separate=given.separate,
        archives=tuple(each.absolute() for each in given.archives),
    )
    os.chdir("/")  # nobody's folder is kept busy
    return run(wishes, listener, is_apart=True)


if __name__ == "__main__":
    sys.exit(main())
