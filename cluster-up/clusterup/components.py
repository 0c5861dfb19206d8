"""KubeVirt's own programs beside a cluster: virt-api and virt-controller on the machine of the control plane, a
virt-handler on each node.

They are no pods. Each is a process of this checkout in the namespaces of its machine, with a kubeconfig that
bears its service account's name; it ends with the cluster. Words in, processes out: where certificates and
kubeconfigs come from is in `syncing`.
"""

import contextlib
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import kubevirt
from clusterup import errors, machines, waiting
from kubevirt.virt.install import rights

API_PORT = 8443
CONTROLLER_PORT = 8444
_LISTEN_LIMIT_S = 120.0
_STOP_LIMIT_S = 60.0
"""virt-handler says goodbye to its node and to virt-api's callers."""


@dataclass(frozen=True, kw_only=True)
class Component:
    """One of them, on one machine."""

    name: str
    account: str
    module: str
    machine: machines.Machine
    port: int
    """At which it is at work when it listens there."""
    flags: tuple[str, ...]

    @property
    def argv(self) -> list[str]:
        return [sys.executable, "-m", self.module, *self.flags]

    def pids(self) -> list[int]:
        """Also of one that an earlier command has started."""
        head = f"{sys.executable}\0-m\0{self.module}\0".encode()
        return [pid for pid in self.machine.tree.processes(self.machine.name) if _is(pid, head)]

    async def restart(self) -> bool:
        """End it if it runs, start it, and wait until it listens; say whether it ran before."""
        has_run = await self.stop()
        started = self.machine.spawn(self.name, self.argv)

        async def listens() -> bool:
            started.check()
            return await self.machine.listens(self.port)

        what = f"{self.name} of {self.machine.name} listens"
        await waiting.until(listens, limit_s=_LISTEN_LIMIT_S, what=what)
        return has_run

    async def stop(self) -> bool:
        """In peace, or by force when it takes too long; say whether there was one."""
        there = self.pids()
        _send(there, signal.SIGTERM)

        async def is_gone() -> bool:
            return not self.pids()

        try:
            await waiting.until(is_gone, limit_s=_STOP_LIMIT_S, what=f"{self.name} ends")
        except errors.Broken:
            _send(self.pids(), signal.SIGKILL)
            await waiting.until(is_gone, limit_s=_STOP_LIMIT_S, what=f"{self.name} is killed")
        return bool(there)


def folders() -> list[Path]:
    """What a machine with files of its own has to see to run them; /usr it sees anyway."""
    wanted = (Path(sys.prefix), Path(kubevirt.__file__).parent.parent)
    return [path for path in wanted if not path.is_relative_to("/usr")]


def api(machine: machines.Machine, folder: Path, address: str) -> Component:
    """`folder` has its kubeconfig and certificates, as `syncing` writes them."""
    return Component(
        name="virt-api",
        account=rights.API,
        module="kubevirt.components.virtapi.main",
        machine=machine,
        port=API_PORT,
        flags=(
            *_reaching(folder, "virt-api"),
            *("--listen", address, "--port", str(API_PORT)),
            *(
                "--tls-cert-file",
                f"{folder}/virt-api.crt",
                "--tls-key-file",
                f"{folder}/virt-api.key",
            ),
            *("--handler-ca-file", f"{folder}/ca.crt"),
            *("--handler-cert-file", f"{folder}/virt-api-calling.crt"),
            *("--handler-key-file", f"{folder}/virt-api-calling.key"),
        ),
    )


def controller(machine: machines.Machine, folder: Path, launcher: str) -> Component:
    """`launcher` is the image that guests run in."""
    return Component(
        name="virt-controller",
        account=rights.CONTROLLER,
        module="kubevirt.components.controller.main",
        machine=machine,
        port=CONTROLLER_PORT,
        flags=(
            *_reaching(folder, "virt-controller"),
            *("--listen", "127.0.0.1", "--port", str(CONTROLLER_PORT)),
            *("--launcher-image", launcher),
        ),
    )


def handler(machine: machines.Machine, folder: Path) -> Component:
    """`folder` is as the node sees it."""
    return Component(
        name="virt-handler",
        account=rights.HANDLER,
        module="kubevirt.components.handler.main",
        machine=machine,
        port=8186,
        flags=(
            *_reaching(folder, "virt-handler"),
            *("--hostname-override", machine.name),
            *("--console-cert-file", f"{folder}/virt-handler.crt"),
            *("--console-key-file", f"{folder}/virt-handler.key"),
            *("--console-client-ca-file", f"{folder}/ca.crt"),
        ),
    )


def _reaching(folder: Path, name: str) -> tuple[str, ...]:
    return ("--kubeconfig", f"{folder}/{name}.kubeconfig")


def _is(pid: int, head: bytes) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(head)
    except OSError:
        return False


def _send(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
