"""What one start is made of: chosen from the command line, from what the home remembers, from defaults."""

import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

import kubevirt
from kubevirt.base.errors import ConfigError
from kubevirt.embedded.home import Choices, Home, Process
from kubevirt.embedded.network.settings import NetworkSettings

LOOPBACK: Final = "127.0.0.1"
PORT: Final = 6443
MOST_NODES: Final = 8
STOP_S: Final = 90.0
"""The longest that pods are given to end when the process is to: their own grace periods count below it."""


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """From the command line; None for what was not said."""

    home: Path
    port: int | None = None
    """0 for any that is free."""
    nodes: int | None = None
    has_kubevirt: bool = True
    """Whether KubeVirt is installed and its programs run; else it is a plain Kubernetes."""
    is_separate: bool | None = None
    """Whether KubeVirt's programs are processes of their own."""
    archives: tuple[Path, ...] = ()
    """Images beside those in the home's own folder."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    port: int
    nodes: tuple[str, ...]
    pods: str
    """The addresses of pods, as a range; empty until `addresses.py` has found one that is free."""
    services: str
    keeper: Path
    """The program that keeps containers."""
    has_kubevirt: bool = True
    is_separate: bool = False
    archives: tuple[Path, ...] = ()

    @property
    def url(self) -> str:
        return f"https://{LOOPBACK}:{self.port}"

    @property
    def choices(self) -> Choices:
        return Choices(
            port=self.port,
            nodes=len(self.nodes),
            pods=self.pods,
            services=self.services,
            is_separate=self.is_separate,
        )


def check(wishes: Wishes) -> None:
    """What no home can be, whether it is up already or not."""
    if wishes.nodes is not None:
        _check_count(wishes.nodes)
    if wishes.port is not None and not 0 <= wishes.port <= 65535:
        raise ConfigError(f"{wishes.port} is no port; give a number from 0 to 65535 with --port")


def unmet(wishes: Wishes, running: Process, choices: Choices) -> Iterator[str]:
    """Those that a home which is up does not fulfil, as options. Nothing of a home changes while it is up."""
    if wishes.port and wishes.port != running.port:
        yield f"--port {wishes.port}"
    if wishes.nodes is not None and wishes.nodes != len(running.nodes):
        yield f"--nodes {wishes.nodes}"
    if running.has_kubevirt and not wishes.has_kubevirt:
        yield "--without-kubevirt"
    if wishes.is_separate is not None and wishes.is_separate != choices.is_separate:
        yield "--separate" if wishes.is_separate else "--no-separate"


def choose(wishes: Wishes, remembered: Choices) -> Settings:
    check(wishes)
    count = remembered.nodes if wishes.nodes is None else wishes.nodes
    _check_count(count)
    chosen = wishes.is_separate
    return Settings(
        port=_port(wishes.port, remembered.port),
        nodes=node_names(count),
        pods=remembered.pods,
        services=remembered.services,
        keeper=keeper(),
        has_kubevirt=wishes.has_kubevirt,
        is_separate=remembered.is_separate if chosen is None else chosen,
        archives=wishes.archives,
    )


def _check_count(nodes: int) -> None:
    if not 1 <= nodes <= MOST_NODES:
        raise ConfigError(
            f"{nodes} is no number of nodes for one machine; give one from 1 to {MOST_NODES} with --nodes"
        )


def node_names(count: int) -> tuple[str, ...]:
    return tuple(f"node{number:02}" for number in range(1, count + 1))


def network(home: Home, choices: Choices) -> NetworkSettings:
    """Follows from what a home remembers, so that whoever comes after a process can clear up for it."""
    return NetworkSettings(
        folder=home.network,
        api_port=choices.port,
        home_id="" if home.is_default else home.id,
        nodes=node_names(choices.nodes),
        pods=choices.pods,
        services=choices.services,
    )


def groups(home: Home, node: str) -> str:
    """The control group above those of a node's pods."""
    return f"kubevirt-embedded/{home.id}/{node}"


def _port(wished: int | None, remembered: int) -> int:
    if wished is None:
        return remembered or PORT
    return wished or _free_port()


def _free_port() -> int:
    """The server has to know its port before it listens: its own Service names it."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def keeper() -> Path:
    """As it came with the package, or as `make bootstrap` built it in a checkout."""
    for place in _keepers():
        if place.is_file():
            return place
    raise ConfigError(
        f"the program that keeps containers is not built: there is no {_keepers()[-1]}; build it with: "
        "make bootstrap",
        reason="ProgramNotFound",
    )


def is_outdated(keeper: Path) -> bool:
    """In a checkout: one that was built from other sources may be told what it does not understand."""
    sources = keeper.parents[1].glob("keeper/*.[ch]")
    return any(each.stat().st_mtime > keeper.stat().st_mtime for each in sources)


def _keepers() -> Sequence[Path]:
    package = Path(kubevirt.__file__).parent
    return (package / "embedded" / "runtime" / "keeper", package.parents[1] / "build" / "keeper")
