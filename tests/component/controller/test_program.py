"""The program: its flags, its port, its end."""

import asyncio
import json
import platform
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.component.controller.conftest import Server
from tests.component.controller.house import LAUNCHER, House

from clusterup import ports, processes, waiting
from kubevirt.testing.builders import a_machine

PROGRAM = "kubevirt.components.controller.main"


@pytest.fixture
async def program(server: Server, house: House, tmp_path: Path) -> AsyncIterator[processes.Daemon]:
    """virt-controller, which tells how it is on the port in the name of its log."""
    port = ports.take()
    argv = [sys.executable, "-W", "error", "-m", PROGRAM, "--kubeconfig", str(server.kubeconfig)]
    argv += ["--launcher-image", LAUNCHER, "--namespace", house.namespace, "-v", "4"]
    argv += ["--listen", ports.LOOPBACK, "--port", str(port.number)]
    environment = processes.plain_environment(PYTHONPATH=":".join(sys.path))
    daemon = processes.Daemon("controller", argv, tmp_path / f"{port.number}.log", environment)
    daemon.start()
    try:
        yield daemon
    finally:
        await daemon.stop()
        port.release()


async def _page(program: processes.Daemon, path: str) -> str:
    """Empty if it cannot be read, or tells of trouble."""

    def read() -> str:
        url = f"http://{ports.LOOPBACK}:{program.log.stem}{path}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return str(answer.read().decode())
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return ""

    return await asyncio.to_thread(read)


async def test_the_program_leads_makes_a_machine_run_and_tells_how_it_is(
    house: House, program: processes.Daemon
) -> None:
    async def leads() -> bool:
        program.check()
        return "kubevirt_virt_controller_leading_status 1.0" in await _page(program, "/metrics")

    async def is_well() -> bool:
        return await _page(program, "/healthz") == "ok"

    async with house.with_nodes():
        await waiting.until(leads, limit_s=60, what="the program leads")
        # It may lead a moment before its caches are complete.
        await waiting.until(is_well, limit_s=60, what="the program is well")
        await house.create(a_machine(namespace=house.namespace, runStrategy="Always"))
        await house.until_machine("testvm", lambda vm: bool(vm.status.ready), "is ready")
        [pod] = await house.pods()
        assert pod.spec is not None
        assert pod.spec.containers[0].image == LAUNCHER
        assert json.loads(await _page(program, "/leader")) == {"apiserver": {"leader": "true"}}
        figures = await _page(program, "/metrics")
        words = f'kubevirt_vm_info{{name="testvm",namespace="{house.namespace}",status="running",status_group="running"}} 1.0'
        assert words in figures
        name = "kubevirt_vmi_phase_transition_time_from_creation_seconds"
        assert f'{name}_count{{phase="Running"}} 1.0' in figures
        assert f'kubevirt_info{{goversion="python{platform.python_version()}"' in figures
        assert 'kubevirt_workqueue_depth{name="virt-controller-vmi"}' in figures
        await program.stop(signal.SIGTERM)
        assert "stopping" in program.log.read_text()
