"""Where the measured launchers run: a folder and a network of their own, both gone afterwards."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kubevirt.host.net.netns import Namespace


@dataclass(frozen=True)
class Place:
    home: Path
    network: Namespace
    images: Path

    def command(self, *words: str) -> list[str]:
        """The words of a program that takes this for its machine."""
        return ["nsenter", f"--net={self.network.path}", "--", *words]


@contextmanager
def a_place(images: Path) -> Iterator[Place]:
    """The network has a way out that leads nowhere: starts must not depend on what is out there."""
    with (
        # Near the root, as sockets have short addresses; on a file system that takes device nodes.
        tempfile.TemporaryDirectory(prefix="bench-", dir="/var/tmp") as home,
        Namespace.new("network of the benchmark") as network,
    ):
        place = Place(Path(home), network, images)
        for words in (
            "link set lo up",
            "link add eth0 type veth peer name nowhere",
            "address add 192.0.2.2/24 dev eth0",
            "link set eth0 up",
            "link set nowhere up",
            "route add default via 192.0.2.1",
        ):
            subprocess.run(place.command("ip", *words.split()), check=True, pass_fds=(network.fd,))
        yield place
