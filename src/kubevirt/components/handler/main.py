"""virt-handler: looks after the guests of one node.

Once on each node, as root in the node's own process and mount namespaces. It tells launchers what to run, gives
their guests a network, and tells the cluster how they are.
"""

import argparse
import resource
import socket
import ssl
import sys
from pathlib import Path

from kubevirt.base.errors import ConfigError
from kubevirt.components.ground.flags import parser
from kubevirt.components.ground.program import Ground
from kubevirt.components.ground.program import run as run_program
from kubevirt.components.ground.tls import Files, ServerTls
from kubevirt.components.handler import handler
from kubevirt.components.handler.settings import HandlerSettings

NAME = "virt-handler"


def main() -> int:
    given = _parser().parse_args()
    settings = _settings(given)
    # Each guest costs a dozen of them, and what a shell allows is soon used up.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    async def work(ground: Ground) -> None:
        await handler.run(
            settings,
            ground.client,
            ground.configuration,
            ground.clock,
            metrics=ground.metrics,
            health=ground.health,
            tls=_tls(given, ground),
        )

    return run_program(NAME, given, work, node=settings.node)


def _parser() -> argparse.ArgumentParser:
    flags = parser(NAME, __doc__ or "", port=8443)
    default = HandlerSettings(node="")
    add = flags.add_argument
    add("--hostname-override", metavar="NODE", help="the node's name; default the machine's")
    add("--kubelet-root", type=Path, default=default.kubelet, metavar="DIR")
    add("--device-plugin-dir", type=Path, default=default.device_plugins, metavar="DIR")
    add("--state-dir", type=Path, default=default.records, metavar="DIR")
    add("--max-devices", type=int, default=default.places, help="guests that may share a device")
    add("--console-server-port", type=int, default=default.port, help="where virt-api calls")
    add("--console-cert-file", type=Path, metavar="FILE", help="shown there")
    add("--console-key-file", type=Path, metavar="FILE")
    add("--console-client-ca-file", type=Path, metavar="FILE", help="who vouches for virt-api")
    return flags


def _settings(given: argparse.Namespace) -> HandlerSettings:
    return HandlerSettings(
        node=given.hostname_override or socket.gethostname().lower(),
        kubelet=given.kubelet_root,
        device_plugins=given.device_plugin_dir,
        records=given.state_dir,
        places=given.max_devices,
        address=given.listen,
        port=given.console_server_port,
    )


def _tls(given: argparse.Namespace, ground: Ground) -> ssl.SSLContext | None:
    """None if it was given nothing: then guests run, and nobody can ask for their consoles."""
    files = (given.console_cert_file, given.console_key_file, given.console_client_ca_file)
    if not any(files):
        return None
    if not all(files):
        raise ConfigError(
            "virt-api is answered only with a certificate, its key and who vouches for callers; give "
            "--console-cert-file, --console-key-file and --console-client-ca-file"
        )
    certificate, key, clients = files
    tls = ServerTls(Files(certificate, key), clients=clients, is_demanding=True)
    ground.configuration.add_listener(tls.follow)
    return tls.context


if __name__ == "__main__":
    sys.exit(main())
