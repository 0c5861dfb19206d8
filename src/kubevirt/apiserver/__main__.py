"""python -m kubevirt.apiserver: one server on the loopback address, for tests and measurements.

It prints its URL when it is ready, and ends by a signal. What it cannot start with it says in one
sentence, and ends with 1.
"""

import argparse
import asyncio
import errno
import os
import signal
import ssl
import sys
from pathlib import Path

from kubevirt.apiserver.auth.access import AccessSettings
from kubevirt.apiserver.auth.audit_log import AuditLogSettings
from kubevirt.apiserver.auth.authority import Wanted
from kubevirt.apiserver.auth.folder import TrustFolder
from kubevirt.apiserver.auth.tls import server_context
from kubevirt.apiserver.callees.callee import ClientFiles
from kubevirt.apiserver.collector.collector import CollectorSettings
from kubevirt.apiserver.http.kubelets import KubeletSettings
from kubevirt.apiserver.plugins.service_addresses import DEFAULT_CIDR, ServiceAddressSettings
from kubevirt.apiserver.server import ADMINISTRATOR, ServerSettings, serving
from kubevirt.apiserver.storage.retention import RetentionSettings
from kubevirt.apiserver.storage.store import StoreSettings
from kubevirt.base import open_files
from kubevirt.base.clock import SystemClock
from kubevirt.base.errors import UserError
from kubevirt.base.files import Root


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kubevirt.apiserver", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the file of the store")
    parser.add_argument("--port", type=int, default=0, help="0 lets the system choose")
    parser.add_argument("--token-file", type=Path, help="the administrator's bearer token")
    parser.add_argument("--tls-cert", type=Path)
    parser.add_argument("--tls-key", type=Path)
    parser.add_argument("--client-ca", type=Path, help="who vouches for client certificates")
    parser.add_argument("--service-cidr", default=DEFAULT_CIDR, help="addresses of services")
    parser.add_argument("--kubelet-ca", type=Path, help="who vouches for nodes")
    parser.add_argument("--kubelet-client-cert", type=Path, help="by which nodes know us")
    parser.add_argument("--kubelet-client-key", type=Path)
    parser.add_argument("--root-ca", type=Path, help="who vouches for us, for every namespace")
    parser.add_argument("--event-ttl-s", type=float, default=3600, help="how long Events are kept")
    parser.add_argument("--audit-log", type=Path, help="where requests are written down")
    parser.add_argument("--keep-s", type=float, help="for how long the past is kept")
    return parser.parse_args()


class _Trust:
    """What lies beside the data, made if it is missing, and what the arguments add to it."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        folder = arguments.data.parent
        now = SystemClock().now()
        with Root.open(folder) as root:
            trust = TrustFolder(root, str(folder))
            self.signing_key = trust.signing_key()
            authority = trust.authority("front-proxy-ca", "front-proxy-ca", now)
            wanted = Wanted.client("front-proxy-client")
            trust.certificate("front-proxy-client", wanted, authority, now)
        self.front_proxy_authority = authority.pair.certificate
        self.front_proxy = ClientFiles(
            str(folder / "front-proxy-client.crt"), str(folder / "front-proxy-client.key")
        )
        self.client_authorities: tuple[bytes, ...] = ()
        if arguments.client_ca:
            self.client_authorities = (arguments.client_ca.read_bytes(),)


def _tls(arguments: argparse.Namespace, trust: _Trust) -> ssl.SSLContext | None:
    if not arguments.tls_cert:
        return None
    authorities = (*trust.client_authorities, trust.front_proxy_authority)
    return server_context(arguments.tls_cert, arguments.tls_key, authorities)


def _access(arguments: argparse.Namespace, trust: _Trust) -> AccessSettings:
    token = arguments.token_file.read_text().strip() if arguments.token_file else ""
    return AccessSettings(
        signing_key=trust.signing_key,
        client_authorities=trust.client_authorities,
        front_proxy_authorities=(trust.front_proxy_authority,),
        known_tokens={token: ADMINISTRATOR} if token else {},
    )


def _collector(arguments: argparse.Namespace) -> CollectorSettings:
    root_ca = arguments.root_ca.read_text() if arguments.root_ca else ""
    return CollectorSettings(root_ca=root_ca, event_ttl_s=arguments.event_ttl_s)


def _kubelets(arguments: argparse.Namespace) -> KubeletSettings:
    if not arguments.kubelet_client_cert:
        return KubeletSettings()
    authority = arguments.kubelet_ca.read_bytes() if arguments.kubelet_ca else b""
    client = ClientFiles(str(arguments.kubelet_client_cert), str(arguments.kubelet_client_key))
    return KubeletSettings(authority=authority, client=client)


def _store(arguments: argparse.Namespace) -> StoreSettings:
    if arguments.keep_s is None:
        return StoreSettings()
    keep_s = arguments.keep_s
    retention = RetentionSettings(keep_s=keep_s, keep_events=0, look_every_s=max(keep_s / 4, 0.1))
    return StoreSettings(retention=retention)


async def _run(arguments: argparse.Namespace) -> None:
    trust = _Trust(arguments)
    settings = ServerSettings(
        data=arguments.data,
        port=arguments.port,
        tls=_tls(arguments, trust),
        access=_access(arguments, trust),
        front_proxy=trust.front_proxy,
        services=ServiceAddressSettings(cidr=arguments.service_cidr),
        kubelets=_kubelets(arguments),
        audit=AuditLogSettings(path=arguments.audit_log) if arguments.audit_log else None,
        collector=_collector(arguments),
        store=_store(arguments),
    )
    open_files.open_many()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    async with serving(settings) as server:
        os.write(sys.stdout.fileno(), f"{server.url}\n".encode())
        await ended.wait()


def main() -> int:
    arguments = _arguments()
    try:
        asyncio.run(_run(arguments))
    except (UserError, OSError, ssl.SSLError) as error:
        sys.stderr.write(f"kubevirt.apiserver: {_sentence(error, arguments)}\n")
        return 1
    return 0


def _sentence(error: Exception, arguments: argparse.Namespace) -> str:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return f"port {arguments.port} is in use by another process; choose another with --port"
    return str(error)


if __name__ == "__main__":
    sys.exit(main())
