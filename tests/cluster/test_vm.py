"""A virtual machine on a real Kubernetes, from `kubectl apply` to nothing left: the launcher's pod is run by a real
kubelet, container disks come by helpers, and virt-api, virt-controller and virt-handler stand beside the cluster.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cluster.support import LIMIT_S, SCRIPTS, Provider, leftovers
from tests.component.cli import terminals

from clusterup import settings, waiting
from kubevirt.embedded.process import guests

MACHINE = settings.PROVIDERS.parent / "examples/standalone/vm.yaml"
PASSWORD = "gocubsgo"
NODE = "node01"

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(
        not os.environ.get("SOAK_REAL_KUBERNETES"),
        reason="two and a half minutes of processor time, for which there is `make soak`: SOAK_REAL_KUBERNETES=1",
    ),
    pytest.mark.skipif(
        not any((folder / "cirros.tar").exists() for folder in guests.archives(os.environ)),
        reason="there is no guest to boot; run `make guest-image` (minutes, once)",
    ),
]


class Machine:
    """`testvm` as a user has it before them."""

    def __init__(self, provider: Provider, folder: Path) -> None:
        self._provider = provider
        self._askpass = folder / "askpass"
        self._askpass.write_text(f"#!/bin/sh\necho {PASSWORD}\n")
        self._askpass.chmod(0o700)

    async def virtctl(self, *words: str) -> str:
        done = await self._provider.run("virtctl.sh", *words)
        assert done.code == 0, done.stderr
        return done.stdout

    async def told(self, path: str, kind: str = "vmi") -> str:
        return await self._provider.kubectl("get", kind, "testvm", "-o", f"jsonpath={{{path}}}")

    async def on_node(self, script: str) -> str:
        return (await self._provider.run("cli.sh", "ssh", NODE, "sh", "-c", script)).stdout

    async def qemu(self) -> str:
        return await self.on_node("pgrep qemu-system || true")

    async def by_ssh(self, command: str) -> str:
        """Through a port of the API server; a guest that has just come up may not answer yet."""
        said = ""
        options = (
            "--known-hosts=",
            "-t",
            "-oStrictHostKeyChecking=no",
            "-t",
            "-oUserKnownHostsFile=/dev/null",
        )

        async def answers() -> bool:
            nonlocal said
            words = ("ssh", "cirros@vmi/testvm", *options, "--command", command)
            asked = {"SSH_ASKPASS": str(self._askpass), "SSH_ASKPASS_REQUIRE": "force"}
            done = await self._provider.run("virtctl.sh", *words, **asked)
            said = done.stdout
            return done.code == 0

        await waiting.until(answers, limit_s=LIMIT_S, what=f"`{command}` in the guest")
        return said

    async def follows(self, uid: str) -> None:
        """Another instance runs in place of that one."""

        async def runs_again() -> bool:
            words = ("get", "vmi", "testvm", "-o", "jsonpath={.metadata.uid} {.status.phase}")
            now = (await self._provider.run("kubectl.sh", *words)).stdout.split()
            return len(now) == 2 and now[0] != uid and now[1] == "Running"

        await waiting.until(runs_again, limit_s=LIMIT_S, what="another instance runs")

    @contextmanager
    def console(self) -> Iterator[terminals.Terminal]:
        with terminals.opened() as terminal:
            end = terminal.others
            words = [str(SCRIPTS / "virtctl.sh"), "console", "testvm", "--wait"]
            with subprocess.Popen(
                words, env=dict(self._provider.environment), stdin=end, stdout=end, stderr=end
            ) as program:
                try:
                    yield terminal
                    terminal.type(b"\x1d")
                    terminals.ended(program)
                finally:
                    program.kill()


@pytest.fixture
def machine(provider: Provider, tmp_path: Path) -> Machine:
    return Machine(provider, tmp_path)


async def test_a_machine_lives_on_a_real_kubernetes(provider: Provider, machine: Machine) -> None:
    for script in ("up.sh", "sync.sh"):
        done = await provider.run(script)
        assert done.code == 0, done.stderr
    await provider.kubectl("apply", "-f", str(MACHINE))
    await machine.virtctl("start", "testvm", "--wait")
    await _looks_as_it_should(provider, machine)
    _is_logged_in_to(machine)
    boot = await machine.by_ssh("cat /proc/sys/kernel/random/boot_id")
    await _is_paused_and_goes_on(machine)
    await _goes_on_while_its_keepers_are_replaced(provider, machine)
    assert await machine.by_ssh("cat /proc/sys/kernel/random/boot_id") == boot
    await _is_restarted_from_outside_and_inside(machine)
    await _leaves_nothing(provider, machine)


async def _looks_as_it_should(provider: Provider, machine: Machine) -> None:
    assert await machine.told(".status.printableStatus", "vm") == "Running"
    assert await machine.told(".status.nodeName") == NODE
    pod = (
        "jsonpath={.items[0].spec['initContainers','containers'][*].name} {.items[0].status.podIP}"
    )
    words = ("get", "pods", "-l", "kubevirt.io=virt-launcher", "-o", pod)
    *containers, address = (await provider.kubectl(*words)).split()
    helpers = ["container-disk-binary", "volumerootfs-init"]
    assert containers == [*helpers, "compute", "volumerootfs"]
    assert await machine.told(".status.interfaces[0].ipAddress") == address


def _is_logged_in_to(machine: Machine) -> None:
    with machine.console() as terminal:
        terminal.until(b"Successfully connected")
        terminal.type(b"\n")  # who comes late finds a line on which all was said already
        terminal.until(b"testvm login: ")
        terminal.type(b"cirros\n")
        terminal.until(b"Password:")
        terminal.type(f"{PASSWORD}\n".encode())
        terminal.until(b"$ ")
        terminal.type(b"echo $((6 * 7)) answers\n")
        terminal.until(b"42 answers")
        terminal.type(b"exit\n")


async def _is_paused_and_goes_on(machine: Machine) -> None:
    paused = '.status.conditions[?(@.type=="Paused")].status'
    await machine.virtctl("pause", "vmi", "testvm", "--wait")
    assert await machine.told(paused) == "True"
    await machine.virtctl("unpause", "vmi", "testvm", "--wait")
    assert not await machine.told(paused)


async def _goes_on_while_its_keepers_are_replaced(provider: Provider, machine: Machine) -> None:
    uid, qemu = await machine.told(".metadata.uid"), await machine.qemu()
    done = await provider.run("sync.sh")
    assert (done.code, "started anew: virt-api" in done.stderr) == (0, True), done.stderr
    assert (await machine.told(".metadata.uid"), await machine.qemu()) == (uid, qemu)


async def _is_restarted_from_outside_and_inside(machine: Machine) -> None:
    uid = await machine.told(".metadata.uid")
    await machine.virtctl("restart", "testvm", "--wait")
    await machine.follows(uid)
    uid = await machine.told(".metadata.uid")
    await machine.by_ssh("sudo poweroff >/dev/null 2>&1 &")
    await machine.follows(uid)  # its run strategy wants it to run


async def _leaves_nothing(provider: Provider, machine: Machine) -> None:
    await machine.virtctl("stop", "testvm", "--force", "--grace-period", "0", "--wait")
    await provider.kubectl("delete", "vm", "testvm", "--timeout=300s")
    for kind in ("vmi", "pods", "controllerrevisions"):
        await provider.kubectl("wait", "--for=delete", kind, "--all", "--timeout=300s")
    assert await machine.qemu() == ""
    pods = "ls /var/lib/kubelet/pods; grep /var/lib/kubelet/pods /proc/mounts"

    async def is_clean() -> bool:
        return not await machine.on_node(pods)

    await waiting.until(is_clean, limit_s=LIMIT_S, what="the kubelet removes the pod's folders")
    assert await machine.on_node("cd /run/kubevirt-private/launchers && ls") == "devices\n"
    done = await provider.run("down.sh")
    assert done.code == 0, done.stderr
    assert leftovers(provider) == []
