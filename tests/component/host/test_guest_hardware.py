"""Boards and processors of guests, as a real QEMU tells of them; without KVM it is asked what it can emulate."""

import shutil
from pathlib import Path

import pytest

from kubevirt.base.errors import KubevirtError
from kubevirt.host.guest_hardware import guest_hardware
from kubevirt.host.kvm import EMULATOR

pytestmark = pytest.mark.skipif(
    not shutil.which(EMULATOR), reason="needs qemu-system-x86: install it with apt-get"
)


async def test_models_and_features_have_the_names_by_which_guests_ask() -> None:
    found = await guest_hardware(accelerator="tcg", widest="max")
    assert found.models >= {"qemu64", "kvm64", "Nehalem", "Opteron_G1"}
    assert not found.models & {"host", "max", "base"}
    assert not [each for each in found.models if each.endswith("-v1")]
    # QEMU's, libvirt's and the kernel's.
    assert found.features >= {"fpu", "sse4.1", "lahf-lm", "lahf_lm", "pclmuldq", "pni", "sse3"}
    assert not [each for each in found.features if each.startswith("x-")]


async def test_boards_have_the_names_by_which_machines_ask() -> None:
    found = await guest_hardware(accelerator="tcg", widest="max")
    assert "q35" in found.machines
    assert any(each.startswith("pc-q35-") for each in found.machines)
    assert not found.machines & {"none", ""}


async def test_a_model_that_lacks_something_here_is_none() -> None:
    """No QEMU emulates all of an Icelake."""
    found = await guest_hardware(accelerator="tcg", widest="max")
    assert not [each for each in found.models if each.startswith("Icelake")]


async def test_an_emulator_that_does_not_know_says_why() -> None:
    with pytest.raises(KubevirtError, match=r"features of guests' hardware: .*nonsense"):
        await guest_hardware(accelerator="tcg", widest="nonsense")


async def test_a_program_that_is_no_emulator_is_not_believed(tmp_path: Path) -> None:
    program = tmp_path / "qemu"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    with pytest.raises(KubevirtError, match="it ended without an answer"):
        await guest_hardware(emulator=str(program))
