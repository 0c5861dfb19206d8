"""`virt-api`: the program.

    virt-api --tls-cert-file … --tls-key-file … --handler-ca-file … --handler-cert-file … --handler-key-file …

Who the front proxy is, it reads from the API server.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kubevirt.base.errors import ConfigError
from kubevirt.components.ground.flags import parser
from kubevirt.components.ground.program import Ground, run
from kubevirt.components.ground.tls import ClientTls, Files, ServerTls
from kubevirt.components.virtapi import front_proxy
from kubevirt.components.virtapi.node_handlers import PORT as HANDLER_PORT
from kubevirt.components.virtapi.running import Settings, running
from kubevirt.components.virtapi.serving import Doors

PROGRAM: Final = "virt-api"
PORT: Final = 8443


def main(arguments: Sequence[str] | None = None) -> int:
    flags = parser(PROGRAM, "KubeVirt's admission and its subresources", port=PORT)
    flags.add_argument(
        "--console-server-port",
        type=int,
        default=HANDLER_PORT,
        metavar="PORT",
        help="at which the virt-handlers of nodes answer",
    )
    flags.add_argument(
        "--handler-ca-file", type=Path, required=True, metavar="FILE", help="who signs for them"
    )
    flags.add_argument("--handler-cert-file", type=Path, required=True, metavar="FILE")
    flags.add_argument("--handler-key-file", type=Path, required=True, metavar="FILE")
    given = flags.parse_args(arguments)
    return run(PROGRAM, given, lambda ground: live(ground, given), is_server=True)


async def live(ground: Ground, given: argparse.Namespace) -> None:
    """Until it is cancelled."""
    if given.tls_cert_file is None or given.tls_key_file is None:
        raise ConfigError(
            "virt-api is asked over TLS only; give --tls-cert-file and --tls-key-file"
        )
    files = Files(given.handler_cert_file, given.handler_key_file)
    handlers = ClientTls(given.handler_ca_file, files)
    async with front_proxy.following(ground.client, ground.clock) as published:
        tls = ServerTls(Files(given.tls_cert_file, given.tls_key_file), clients=published.authority)
        ground.configuration.add_listener(tls.follow)
        ground.health.add("front proxy", lambda: "" if published() else "it is not known")
        settings = Settings(
            doors=Doors(tls=tls.context, host=given.listen, port=given.port),
            handler_tls=handlers.context,
            handler_port=given.console_server_port,
            namespace=ground.namespace,
            proxy=published,
            metrics=ground.metrics,
            health=ground.health,
        )
        async with running(
            settings,
            client=ground.client,
            clock=ground.clock,
            configuration=ground.configuration,
        ):
            await asyncio.Event().wait()


if __name__ == "__main__":
    sys.exit(main())
