"""Machines: the control plane and the nodes, each a set of namespaces with a first process.

A machine has network, mount, process, host-name and IPC namespaces of its own. No name for them is
left anywhere: they exist as long as the first process does, and when it dies the kernel ends every
process in the machine and with them its links, routes, nft tables and mounts.
"""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clusterup import cgroups, errors, processes, waiting

CONTROL_PLANE = "control-plane"
_INITS = Path(__file__).parent / "inits"
_START_LIMIT_S = 120.0

# Enters the cgroup, takes all the file descriptors the machine allows, becomes the program.
_LAUNCH = 'echo $$ >"$1" && shift && ulimit -n "$(ulimit -H -n)" && exec "$@"'


@dataclass
class Machine:
    name: str
    folder: Path
    """The machine's own files on the host."""
    tree: cgroups.Tree
    pid: int | None = None
    """The first process, by the host's numbers."""

    async def start(self, *init: str) -> None:
        """Make the namespaces and run the init script in them; return when it is through."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.tree.add(self.name)
        ready = self.folder / "pid"
        ready.unlink(missing_ok=True)
        process = self._launch(
            [
                *("unshare", "--fork", "--kill-child", "--propagation", "private"),
                *("--mount", "--net", "--pid", "--uts", "--ipc", "--"),
                *("/bin/sh", *init, str(ready)),
            ],
            self.log("init"),
        )

        async def is_through() -> bool:
            if process.poll() is not None:
                raise errors.Broken(f"{self.name} could not be made", log=self.log("init"))
            text = ready.read_text() if ready.exists() else ""
            if text.endswith("\n"):
                self.pid = int(text)
            return self.pid is not None

        await waiting.until(is_through, limit_s=_START_LIMIT_S, what=f"{self.name} is made")

    def spawn(self, name: str, argv: Sequence[str], path: Sequence[Path] = ()) -> "Running":
        """Start a long-lived program in the machine. It outlives us, and ends with the machine."""
        return Running(name, self._launch(self.inside(argv), self.log(name), path), self.log(name))

    async def run(self, *argv: str, stdin: str = "", check: bool = True) -> processes.Outcome:
        """Run a short program in the machine."""
        return await processes.run(*self.inside(argv), stdin=stdin, check=check)

    def inside(self, argv: Sequence[str]) -> list[str]:
        """The command line that runs `argv` in the machine."""
        if self.pid is None:
            raise errors.ClusterError(f"{self.name} is not running")
        return [
            *("nsenter", "--target", str(self.pid), "--mount", "--net", "--pid", "--uts", "--ipc"),
            # Where we live in a changed root, the namespace's own root is another one.
            *("--root", "--wd", "--", *argv),
        ]

    def file(self, path: str) -> Path:
        """A file of the machine, by a path that leads to it from the host."""
        return Path(f"/proc/{self.pid}/root{path}")

    async def listens(self, port: int) -> bool:
        """Whether a program in the machine listens on that TCP port, on whatever address."""
        return port in _listening_ports(self.pid)

    def log(self, program: str) -> Path:
        return self.folder / "logs" / f"{program}.log"

    def _launch(
        self, argv: Sequence[str], log: Path, path: Sequence[Path] = ()
    ) -> "subprocess.Popen[bytes]":
        log.parent.mkdir(parents=True, exist_ok=True)
        (entrance,) = self.tree.entrance(self.name)
        environment = processes.plain_environment(HOME="/root")
        if path:
            environment["PATH"] = ":".join([*map(str, path), environment["PATH"]])
        with log.open("ab") as out:
            return subprocess.Popen(
                ["/bin/sh", "-c", _LAUNCH, "launch", str(entrance), *argv],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=environment,
                # Not ours to interrupt: it stays when we go.
                start_new_session=True,
                cwd="/",
            )


@dataclass
class Running:
    """A program that was started in a machine."""

    name: str
    process: "subprocess.Popen[bytes]"
    log: Path

    def check(self) -> None:
        if (code := self.process.poll()) is not None:
            raise errors.Broken(f"{self.name} ended with code {code}", log=self.log)


def _listening_ports(pid: int | None) -> set[int]:
    """The TCP ports that are listened on in the network namespace of a process."""
    table = Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]
    listening = "0A"
    return {
        int(fields[1].rpartition(":")[2], 16)
        for fields in map(str.split, table)
        if fields[3] == listening
    }


def control_plane(tree: cgroups.Tree, home: Path) -> Machine:
    return Machine(CONTROL_PLANE, home / CONTROL_PLANE, tree)


def node_name(index: int) -> str:
    return f"node{index:02d}"


async def start_control_plane(machine: Machine) -> None:
    await machine.start(str(_INITS / "control-plane.sh"))


async def start_node(machine: Machine, programs: Sequence[Path]) -> None:
    """The node's files (etc, var, tmp, tunables) must be in its folder already. `programs` are folders
    that it sees as the host does.
    """
    seen = ":".join(map(str, programs))
    await machine.start(str(_INITS / "node.sh"), machine.name, str(machine.folder), seen)
