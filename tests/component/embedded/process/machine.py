"""A machine that can be switched off: processes and mounts in namespaces of their own, which end with it.

Pods' links end with the namespaces that were bound there. What the kernel keeps elsewhere (the gateway's link, the
table of rules, loop devices, control groups) is taken away by name: after a start of the machine none of it is
there. The network is the tests' own, so that they reach the API server.
"""

import os
import signal
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.component.embedded.process.conftest import LIMIT_S
from tests.component.embedded.process.leftovers import said

_INIT = (
    'mount --bind "$0" /proc/sys/kernel/random/boot_id; echo up; while :; do sleep 100 & wait; done'
)
"""Whatever loses its parent is this one's child; a shell that waits takes note of its end."""


@dataclass
class Machine:
    folder: Path
    boot_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    process: subprocess.Popen[str] | None = None

    def switch_on(self) -> tuple[str, ...]:
        """What leads to it: words to put before a command."""
        file = self.folder / f"boot-{self.boot_id}"
        file.write_text(f"{self.boot_id}\n")
        alone = ["unshare", "--fork", "--kill-child", "--pid", "--mount-proc"]
        words = [*alone, "sh", "-c", _INIT, str(file)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "up\n"
        return ("nsenter", f"--target={self._init}", "--mount", "--pid")

    @property
    def _init(self) -> int:
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return int(children.read_text())

    def switch_off(self) -> None:
        if self.process is None:
            return
        with self.process:
            os.kill(self._init, signal.SIGKILL)  # and with it all others, says the kernel
            self.process.wait(LIMIT_S)
        self.process = None


def forget(home: Path, home_id: str) -> None:
    """What the tests' own kernel remembers of a home whose machine is off."""
    subprocess.run(["ip", "link", "delete", f"kvpy-{home_id}"], check=False, timeout=30)
    table = f"kubevirt-embedded-{home_id}"
    subprocess.run(["nft", "delete", "table", "inet", table], check=False, timeout=30)
    for line in said(
        "losetup", "--list", "--noheadings", "--output", "NAME,BACK-FILE"
    ).splitlines():
        device, _, file = line.partition(" ")
        if file.strip().startswith(f"{home}/"):
            subprocess.run(["losetup", "--detach", device], check=True, timeout=30)
    for top in (Path("/sys/fs/cgroup"), *Path("/sys/fs/cgroup").iterdir()):
        _remove_groups(top / "kubevirt-embedded" / home_id)


def _remove_groups(folder: Path) -> None:
    if folder.is_dir():
        for inner in sorted(folder.rglob("*/"), reverse=True):
            inner.rmdir()
        folder.rmdir()


@contextmanager
def switched_on(folder: Path) -> Iterator[tuple[str, ...]]:
    machine = Machine(folder)
    try:
        yield machine.switch_on()
    finally:
        machine.switch_off()
