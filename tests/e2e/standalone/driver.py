"""A user of `virt-launcher --standalone`: starts it, types, reads, and looks at what it leaves.

It runs in a network made by the test, which it takes for the machine's:

    outside (an HTTP server) ──── machine (virt-launcher) ──── the guest
"""

import os
import pty
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.component.host.net_world import World, in_kernel

from kubevirt.components.launcher.standalone.folders import Place

LIMIT_S = 120.0
"""To end a hang. A guest takes seconds to its login, on a machine that does other things ten times as many."""
COMMAND = Path(sys.executable).with_name("virt-launcher")
PROMPT = "$ "


class Session:
    """A running virt-launcher, by pipes or on a terminal."""

    def __init__(
        self, process: subprocess.Popen[bytes], typing: int, screen: int, terminal: int = -1
    ) -> None:
        self.process = process
        self.terminal = terminal
        """Its side of the terminal, where there is one."""
        self.said = ""
        """What the program itself said, if it has a standard error of its own."""
        self._typing = typing
        self._screen = screen
        self._seen = ""
        self._errors = process.stderr
        self._waiting = selectors.DefaultSelector()
        self._waiting.register(screen, selectors.EVENT_READ)
        if self._errors:
            self._waiting.register(self._errors, selectors.EVENT_READ)

    def type(self, text: str) -> None:
        os.write(self._typing, text.encode())

    def until(self, wanted: str, limit_s: float = LIMIT_S) -> str:
        """What the screen showed up to and with the text."""
        deadline = time.monotonic() + limit_s
        while wanted not in self._seen:
            self._listen(deadline, wanted)
        before, found, self._seen = self._seen.partition(wanted)
        return before + found

    def until_said(self, wanted: str, limit_s: float = LIMIT_S) -> None:
        deadline = time.monotonic() + limit_s
        while wanted not in self.said:
            self._listen(deadline, wanted)

    def log_in(self) -> None:
        self.until("login: ")
        self.type("cirros\n")
        self.until("Password: ")
        self.type("gocubsgo\n")
        self.until(PROMPT)

    def run(self, command: str) -> str:
        """Of a command in the guest, what it printed."""
        self.type(f"{command}; echo done=$?\n")
        self.until("echo done=$?")
        shown = self.until("done=0").removesuffix("done=0")
        self.until(PROMPT)
        return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", shown).replace("\r", "").strip()

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ended(self, limit_s: float = LIMIT_S) -> int:
        """Its exit code, with everything said by then."""
        deadline = time.monotonic() + limit_s
        while self._waiting.get_map():
            self._listen(deadline, "its end")
        return self.process.wait(limit_s)

    def close_window(self) -> None:
        """The terminal is gone; the kernel tells its programs."""
        if self.terminal >= 0:
            self._waiting.close()
            os.close(self.terminal)
            os.close(self._screen)
            self.terminal = -1

    def give_up(self) -> None:
        """After a test, however it went: the second interruption is a quick end that cleans up."""
        deadline = time.monotonic() + LIMIT_S
        while self.process.poll() is None and time.monotonic() < deadline:
            self.process.send_signal(signal.SIGTERM)
            time.sleep(0.05)
        self.process.kill()
        self.process.wait()

    def _listen(self, deadline: float, wanted: str) -> None:
        ready = self._waiting.select(max(deadline - time.monotonic(), 0))
        assert ready, f"no {wanted!r} in {self._seen[-2000:]!r}; it said {self.said!r}"
        for key, _ in ready:
            data = _read(key.fd)
            if not data:
                self._waiting.unregister(key.fileobj)
            elif self._errors and key.fd == self._errors.fileno():
                self.said += data.decode(errors="replace")
            else:
                self._seen += data.decode(errors="replace")
        assert self._waiting.get_map() or wanted in self._seen + self.said or wanted == "its end", (
            f"it ended without {wanted!r}: {self._seen[-2000:]!r}; it said {self.said!r}"
        )

    @property
    def screen(self) -> str:
        """What was shown and not yet waited for."""
        return self._seen


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, 65536)
    except OSError:  # a terminal whose other side is closed
        return b""


class Machine:
    """Where virt-launcher runs."""

    def __init__(self, home: Path, world: World, images: Path) -> None:
        self.home = home
        self.world = world
        self.images = images

    @contextmanager
    def launched(
        self, *words: str, terminal: bool = False, **environment: str
    ) -> Iterator[Session]:
        namespace = self.world.pod
        command = [
            *("nsenter", f"--net=/proc/self/fd/{namespace.fd}", "--"),
            *(str(COMMAND), *words, "--image-dir", str(self.images)),
        ]
        env = {**os.environ, "KUBEVIRT_STANDALONE_HOME": str(self.home), **environment}
        options: dict[str, Any] = {"env": env, "pass_fds": (namespace.fd,)}
        with _on_a_terminal(command, options) if terminal else _by_pipes(command, options) as it:
            try:
                yield it
            finally:
                it.give_up()

    # What may be left.

    def processes(self) -> list[str]:
        """Of this machine's guests: all that hold its folder or live in its network."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                mounts = (folder / "mountinfo").read_text()
            except (OSError, UnicodeDecodeError):
                continue
            ours = str(self.home) in line or str(self.home) in mounts
            if ours and int(folder.name) != os.getpid():
                found.append(line[:120])
        return found

    def links(self) -> set[str]:
        return {link.name for link in in_kernel(self.world.pod, lambda kernel: kernel.links())}

    def rules(self) -> str:
        return self.world.pod.call(
            lambda: (
                subprocess.run(
                    ["nft", "list", "ruleset"], capture_output=True, text=True, check=True
                ).stdout
            )
        )

    def forwarding(self) -> str:
        return self.world.pod.call(
            Path("/proc/sys/net/ipv4/conf/eth0/forwarding").read_text
        ).strip()

    def files(self) -> list[str]:
        """But for what later runs use again."""
        kept = ("images", "capabilities", "lock", "networks/lock", "kvm")
        return sorted(
            name
            for path in self.home.rglob("*")
            if not path.is_dir()
            and not (name := str(path.relative_to(self.home)))
            .removeprefix("runs/")
            .startswith(kept)
        )

    def mounts(self) -> list[str]:
        return [
            line for line in Path("/proc/mounts").read_text().splitlines() if str(self.home) in line
        ]

    def cgroups(self) -> list[str]:
        groups = Place(runtime=self.home, store=self.home).groups
        tree = os.walk("/sys/fs/cgroup")  # others' come and go meanwhile
        return [f"{top}/{name}" for top, names, _ in tree for name in names if groups in name]

    def leftovers(self) -> Mapping[str, object]:
        found = {
            "processes": self.processes(),
            "links": sorted(self.links() - {"lo", "eth0"}),
            "rules": self.rules(),
            "forwarding": self.forwarding() if self.forwarding() != "0" else "",
            "files": self.files(),
            "mounts": self.mounts(),
            "cgroups": self.cgroups(),
        }
        return {name: value for name, value in found.items() if value}


@contextmanager
def _by_pipes(command: list[str], options: dict[str, Any]) -> Iterator[Session]:
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, **options) as process:
        assert process.stdin
        assert process.stdout
        yield Session(process, process.stdin.fileno(), process.stdout.fileno())


@contextmanager
def _on_a_terminal(command: list[str], options: dict[str, Any]) -> Iterator[Session]:
    """It is the terminal's foreground program, so that Ctrl+C reaches it."""
    ours, theirs = pty.openpty()
    wrapped = ["setsid", "--ctty", *command]
    with subprocess.Popen(
        wrapped, stdin=theirs, stdout=theirs, stderr=theirs, **options
    ) as process:
        session = Session(process, ours, ours, terminal=theirs)
        try:
            yield session
        finally:
            session.close_window()


@contextmanager
def a_home() -> Iterator[Path]:
    """Near the root, as sockets have short addresses, and on a file system that takes device nodes."""
    with tempfile.TemporaryDirectory(prefix="standalone-", dir="/var/tmp") as folder:
        yield Path(folder)
