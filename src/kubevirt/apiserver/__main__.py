"""python -m kubevirt.apiserver: one server on the loopback address, for tests and measurements.

It prints its URL when it is ready, and ends by a signal.
"""

import argparse
import asyncio
import os
import signal
import ssl
import sys
from pathlib import Path

from kubevirt.apiserver.auth.access import AccessSettings
from kubevirt.apiserver.auth.audit_log import AuditLogSettings
from kubevirt.apiserver.auth.folder import TrustFolder
from kubevirt.apiserver.auth.tls import server_context
from kubevirt.apiserver.server import ADMINISTRATOR, ServerSettings, serving
from kubevirt.apiserver.storage.retention import RetentionSettings
from kubevirt.apiserver.storage.store import StoreSettings
from kubevirt.base.files import Root


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kubevirt.apiserver", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the file of the store")
    parser.add_argument("--port", type=int, default=0, help="0 lets the system choose")
    parser.add_argument("--token-file", type=Path, help="the administrator's bearer token")
    parser.add_argument("--tls-cert", type=Path)
    parser.add_argument("--tls-key", type=Path)
    parser.add_argument("--client-ca", type=Path, help="who vouches for client certificates")
    parser.add_argument("--audit-log", type=Path, help="where requests are written down")
    parser.add_argument("--keep-s", type=float, help="for how long the past is kept")
    return parser.parse_args()


def _tls(arguments: argparse.Namespace) -> ssl.SSLContext | None:
    if not arguments.tls_cert:
        return None
    return server_context(arguments.tls_cert, arguments.tls_key, _authorities(arguments))


def _authorities(arguments: argparse.Namespace) -> tuple[bytes, ...]:
    return (arguments.client_ca.read_bytes(),) if arguments.client_ca else ()


def _access(arguments: argparse.Namespace) -> AccessSettings:
    token = arguments.token_file.read_text().strip() if arguments.token_file else ""
    folder = arguments.data.parent
    with Root.open(folder) as root:
        signing_key = TrustFolder(root, str(folder)).signing_key()
    return AccessSettings(
        signing_key=signing_key,
        client_authorities=_authorities(arguments),
        known_tokens={token: ADMINISTRATOR} if token else {},
    )


def _store(arguments: argparse.Namespace) -> StoreSettings:
    if arguments.keep_s is None:
        return StoreSettings()
    keep_s = arguments.keep_s
    retention = RetentionSettings(keep_s=keep_s, keep_events=0, look_every_s=max(keep_s / 4, 0.1))
    return StoreSettings(retention=retention)


async def _run(arguments: argparse.Namespace) -> None:
    settings = ServerSettings(
        data=arguments.data,
        port=arguments.port,
        tls=_tls(arguments),
        access=_access(arguments),
        audit=AuditLogSettings(path=arguments.audit_log) if arguments.audit_log else None,
        store=_store(arguments),
    )
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    async with serving(settings) as server:
        os.write(sys.stdout.fileno(), f"{server.url}\n".encode())
        await ended.wait()


if __name__ == "__main__":
    asyncio.run(_run(_arguments()))
