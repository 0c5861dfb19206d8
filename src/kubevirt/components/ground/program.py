"""A program from its first line to its last: log, client, settings, /metrics and /healthz, signals.

    def main() -> int:
        flags = parser("virt-controller", __doc__, port=8443)
        flags.add_argument("--launcher-image", required=True)
        given = flags.parse_args()
        return run("virt-controller", given, lambda ground: live(ground, given.launcher_image))

The work goes on until a signal comes or it fails; whoever started us starts us again. What can be said in one
sentence is, the rest is a bug and shows where it happened.
"""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

import msgspec

from kubevirt.base import log
from kubevirt.base.clock import Clock, SystemClock
from kubevirt.base.errors import ConfigError, KubevirtError
from kubevirt.base.semantic_version import VERSION
from kubevirt.base.tasks import first_of
from kubevirt.components.ground import verbosity
from kubevirt.components.ground.configuration import LiveConfiguration, following
from kubevirt.components.ground.tls import Files, ServerTls
from kubevirt.kube.access import default_config
from kubevirt.kube.client import Client
from kubevirt.kube.http.health import Health, Page, telling
from kubevirt.kube.metrics import Metrics

FAILED: Final = 1

_log = log.get_logger(__name__)


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """What a component's work is given."""

    client: Client
    clock: Clock
    configuration: LiveConfiguration
    namespace: str
    metrics: Metrics
    health: Health
    pages: dict[str, Page]
    """More paths of the program's port, to which the work adds its own."""
    tls: ServerTls | None = None
    """Of the program's port, if it was given a certificate."""


Work = Callable[[Ground], Awaitable[None]]


def run(
    program: str,
    given: argparse.Namespace,
    work: Work,
    *,
    node: str = "",
    is_server: bool = False,
) -> int:
    """`given` is what `flags.parser` read. `node` is where a virt-handler is: it may log more than others.
    `is_server` is whether the work itself answers on the port, with `health` and `metrics` among the rest.
    """
    logs = log.configure(program, given.verbosity)
    try:
        asyncio.run(_until_a_signal(program, given, work, logs, node, is_server=is_server))
    except KubevirtError as error:
        print(f"{program}: {error}", file=sys.stderr)  # noqa: T201  # the last words, for a person
        return FAILED
    except Exception as error:  # noqa: BLE001  # whatever it is, it is told
        _log.error("the program ends", error=error)
        return FAILED
    finally:
        logs.close()
    return 0


async def _until_a_signal(
    program: str,
    given: argparse.Namespace,
    work: Work,
    logs: log.Logs,
    node: str,
    *,
    is_server: bool,
) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)

    async def live() -> None:
        async with standing(program, given, SystemClock(), is_server=is_server) as ground:
            ground.configuration.add_listener(
                lambda now: verbosity.follow(
                    verbosity.of(program, now, given.verbosity, node=node), logs.set_verbosity
                )
            )
            _log.info("started", server=ground.client.config.server)
            await work(ground)

    async def wait() -> None:
        await ended.wait()
        _log.info("stopping")

    await first_of(live(), wait())


@asynccontextmanager
async def standing(
    program: str, given: argparse.Namespace, clock: Clock, *, is_server: bool = False
) -> AsyncIterator[Ground]:
    """Reached, read and answering; the component may begin."""
    config = default_config.find(os.environ, path=given.kubeconfig)
    metrics, health, tls = Metrics(), Health(), server_tls(given)
    pages: dict[str, Page] = {}
    async with AsyncExitStack() as stack:
        if not is_server:
            context = tls.context if tls else None
            await stack.enter_async_context(
                telling(
                    metrics,
                    health,
                    clock,
                    host=given.listen,
                    port=given.port,
                    tls=context,
                    pages=pages,
                )
            )
        client = await stack.enter_async_context(Client(config, clock=clock))
        metrics.add_version(VERSION)
        metrics.add_traffic(client.traffic)
        metrics.add_readiness(program, lambda: not health.trouble)
        configuration = await stack.enter_async_context(
            following(client, clock, namespace=given.namespace)
        )
        if tls:
            configuration.add_listener(tls.follow)
        yield Ground(
            client=client,
            clock=clock,
            configuration=configuration,
            namespace=given.namespace,
            metrics=metrics,
            health=health,
            pages=pages,
            tls=tls,
        )


def server_tls(given: argparse.Namespace) -> ServerTls | None:
    """None where no certificate is given: then it is plain HTTP, for one's own machine."""
    certificate, key = given.tls_cert_file, given.tls_key_file
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise ConfigError("--tls-cert-file and --tls-key-file belong together; give both")
    return ServerTls(Files(certificate, key))
