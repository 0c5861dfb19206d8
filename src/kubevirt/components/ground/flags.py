"""What all programs understand on their command lines; each adds its own."""

import argparse
from pathlib import Path

import kubevirt
from kubevirt.base.log import DEFAULT_VERBOSITY
from kubevirt.virt.install.options import NAMESPACE


def parser(program: str, description: str, *, port: int) -> argparse.ArgumentParser:
    """`port` is where the program tells how it is, unless it is told another one."""
    flags = argparse.ArgumentParser(prog=program, description=description)
    flags.add_argument("--version", action="version", version=f"{program} {kubevirt.__version__}")
    flags.add_argument(
        "-v",
        "--v",
        dest="verbosity",
        type=int,
        default=DEFAULT_VERBOSITY,
        metavar="N",
        help="how much to log, 0 to 9; the KubeVirt object's logVerbosity counts before it",
    )
    flags.add_argument(
        "--kubeconfig", metavar="FILE", help="how to reach the API server; else as kubectl does"
    )
    flags.add_argument(
        "--namespace", default=NAMESPACE, help="where KubeVirt and its object are installed"
    )
    flags.add_argument("--listen", default="0.0.0.0", metavar="ADDRESS")  # noqa: S104  # a pod's own
    flags.add_argument("--port", type=int, default=port, help="of /metrics and /healthz")
    flags.add_argument("--tls-cert-file", type=Path, metavar="FILE", help="shown on that port")
    flags.add_argument("--tls-key-file", type=Path, metavar="FILE")
    return flags
