"""virtctl as a plugin of kubectl: `kubectl virt`."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.component.cli.conftest import Place
from tests.component.cli.terminals import LIMIT_S

import kubevirt


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """The folder of its programs, as an installation makes them."""
    for name, module in (("kubectl-virt", "main"), ("kubectl_complete-virt", "plugin_completion")):
        program = tmp_path / name
        program.write_text(f"#!{sys.executable}\nfrom kubevirt.cli.{module} import main\nmain()\n")
        program.chmod(0o755)
    return tmp_path


def kubectl(place: Place, plugin: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    if not place.server.kubectl.exists():
        pytest.skip("kubectl is not built yet: tests/contract builds it")
    return subprocess.run(
        [str(place.server.kubectl), *words],
        env={**place.env, "PATH": f"{plugin}:{place.env['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )


def test_kubectl_finds_its_commands(place: Place, plugin: Path) -> None:
    done = kubectl(place, plugin, "virt", "version", "--client")
    assert (done.returncode, done.stdout) == (0, f"Client Version: {kubevirt.__version__}\n")
    done = kubectl(place, plugin, "virt", "start", "testvm", "-n", place.namespace)
    assert done.stdout == "VM testvm was scheduled to start\n"


def test_its_help_and_its_errors_speak_of_kubectl_virt(place: Place, plugin: Path) -> None:
    assert "Usage: kubectl virt start" in kubectl(place, plugin, "virt", "start", "--help").stdout
    done = kubectl(place, plugin, "virt", "start")
    assert done.returncode != 0
    assert "(see kubectl virt start --help)" in done.stderr


def test_kubectl_completes_its_words(place: Place, plugin: Path) -> None:
    place.machine("alpha")
    place.machine("beta")
    asked = ("__complete", "virt", "start", "-n", place.namespace, "al")
    assert kubectl(place, plugin, *asked).stdout == "alpha\n:4\n"
    assert "soft-reboot" in kubectl(place, plugin, "__complete", "virt", "soft").stdout
