"""The words that programs are started with."""

from pathlib import Path

import pytest

from kubevirt.apiserver.callees.callee import ClientFiles
from kubevirt.components.controller.main import _flags as controllers_flags
from kubevirt.components.handler.main import _parser as handlers_flags
from kubevirt.embedded.programs import command_lines
from kubevirt.embedded.programs.command_lines import Standing

STANDING = Standing(
    kubeconfig=Path("/home/programs/one.kubeconfig"),
    address="10.1.0.1",
    port=4711,
    shown=ClientFiles("/pki/one.crt", "/pki/one.key"),
    authority=Path("/pki/ca.crt"),
)


def test_virt_controller_understands_its_words() -> None:
    words = command_lines.virt_controller(STANDING, "kubevirt/virt-launcher")
    given = controllers_flags().parse_args(words)
    assert (given.listen, given.port, given.launcher_image) == (
        "10.1.0.1",
        4711,
        "kubevirt/virt-launcher",
    )


def test_virt_handler_understands_its_words() -> None:
    words = command_lines.virt_handler(STANDING, "node02", Path("/kubelet"), Path("/records"))
    given = handlers_flags().parse_args(words)
    assert given.hostname_override == "node02"
    assert given.device_plugin_dir == Path("/kubelet/device-plugins")
    assert given.console_client_ca_file == Path("/pki/ca.crt")
    assert given.console_server_port == 8186


@pytest.mark.parametrize("name", list(command_lines.MODULES))
def test_the_installed_program_is_taken_and_else_its_module(name: str, tmp_path: Path) -> None:
    interpreter = tmp_path / "python3"
    module = command_lines.MODULES[name]
    assert command_lines.program(name, interpreter) == [str(interpreter), "-m", module]
    (tmp_path / name).touch()
    assert command_lines.program(name, interpreter) == [str(tmp_path / name)]


KUBECONFIG = str(STANDING.kubeconfig)


@pytest.mark.parametrize("before", [[], ["setpriv", "--pdeathsig=KILL", "--", "nsenter", "--"]])
@pytest.mark.parametrize(
    "program", [["/venv/bin/python3", "/venv/bin/virt-api"], ["python3", "-m", "MODULE"]]
)
def test_a_process_of_ours_is_known_by_its_words(before: list[str], program: list[str]) -> None:
    module = command_lines.MODULES["virt-api"]
    own = [module if each == "MODULE" else each for each in program]
    words = [*before, *own, *command_lines.virt_controller(STANDING, "image")]
    assert command_lines.is_program(words, KUBECONFIG)
    assert not command_lines.is_program(words, "/another/programs/one.kubeconfig")


@pytest.mark.parametrize(
    "words",
    [
        ["kubectl", "--kubeconfig", KUBECONFIG, "get", "pods"],
        ["cat", KUBECONFIG],
        ["virt-api", f"--kubeconfig={KUBECONFIG}x"],
        [],
    ],
)
def test_whoever_only_reads_its_kubeconfig_is_none_of_ours(words: list[str]) -> None:
    assert not command_lines.is_program(words, KUBECONFIG)
