"""Hardware acceleration: believed only after a guest has run on it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kubevirt.base.boot import boot_id
from kubevirt.host import kvm
from kubevirt.host.kvm import Acceleration, Machine, acceleration, at_first_sight, probe

SOURCE = Path(kvm.__file__).with_name("kvm_probe.S")

needs_qemu = pytest.mark.skipif(
    not shutil.which(kvm.EMULATOR), reason="needs qemu-system-x86: install it with apt-get"
)

PROMISING = Machine(architecture="x86_64", cpu_flags=frozenset({"fpu", "vmx"}))


def a_program(folder: Path, script: str) -> str:
    program = folder / "qemu"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


def _is_running(pid_file: Path) -> bool:
    return Path(f"/proc/{pid_file.read_text().strip()}").exists()


@pytest.mark.parametrize(
    ("machine", "reason"),
    [
        (Machine(architecture="x86_64", cpu_flags=frozenset({"fpu"})), "neither vmx nor svm"),
        (Machine(architecture="riscv64"), "no probe for riscv64"),
        (
            Machine(
                architecture="x86_64",
                cpu_flags=frozenset({"svm"}),
                device_error="Permission denied",
            ),
            "/dev/kvm does not open: Permission denied",
        ),
    ],
)
def test_what_is_plain_to_see_needs_no_guest(machine: Machine, reason: str) -> None:
    verdict = at_first_sight(machine)
    assert verdict is not None
    assert not verdict.usable
    assert reason in verdict.reason


def test_a_cpu_and_a_device_alone_prove_nothing() -> None:
    assert at_first_sight(PROMISING) is None


def test_flags_are_those_of_the_first_cpu() -> None:
    text = "processor\t: 0\nflags\t\t: fpu svm\n\nprocessor\t: 1\nflags\t\t: fpu\n"
    assert kvm.cpu_flags(text) == {"fpu", "svm"}
    assert kvm.cpu_flags("Processor: ARM\n") == frozenset()


@needs_qemu
async def test_the_guest_of_the_probe_runs_to_its_end_where_guests_can_run() -> None:
    assert await probe(accelerator="tcg", limit_s=60) == Acceleration(
        usable=True, reason="a guest ran on the hardware"
    )


async def test_a_guest_that_hangs_costs_its_limit_and_is_ended(tmp_path: Path) -> None:
    emulator = a_program(tmp_path, f"echo $$ > {tmp_path}/pid; exec sleep 1000")
    found = await probe(emulator=emulator, limit_s=0.3)
    assert not found.usable
    assert "did not end within 0.3 s" in found.reason
    assert not _is_running(tmp_path / "pid")


async def test_an_emulator_that_fails_says_why(tmp_path: Path) -> None:
    emulator = a_program(tmp_path, "echo 'no KVM today' >&2; exit 1")
    found = await probe(emulator=emulator)
    assert not found.usable
    assert "no KVM today" in found.reason


async def test_a_missing_emulator_is_a_verdict_and_no_crash() -> None:
    found = await probe(emulator="/nowhere/qemu")
    assert not found.usable
    assert "cannot be tried" in found.reason


async def test_a_verdict_holds_until_the_next_boot(tmp_path: Path) -> None:
    this_boot = boot_id()
    yes = Acceleration(usable=True, reason="remembered")
    cache = tmp_path / kvm.CACHE_NAME
    kvm._remember(tmp_path, kvm._Remembered(boot_id=this_boot, found=yes))
    assert await acceleration(tmp_path, machine=PROMISING) == yes
    assert kvm._remembered(tmp_path, "another boot") is None
    cache.write_bytes(b"\x00garbage")
    assert kvm._remembered(tmp_path, this_boot) is None


@needs_qemu
@pytest.mark.skipif(
    not os.access("/dev/kvm", os.R_OK | os.W_OK), reason="needs a /dev/kvm we may open"
)
async def test_a_device_that_lies_costs_nobody_a_hang(tmp_path: Path) -> None:
    first = await acceleration(tmp_path, machine=PROMISING)
    assert kvm._remembered(tmp_path, boot_id()) is not None, "it is tried once"
    assert await acceleration(tmp_path, machine=PROMISING) == first


@pytest.mark.skipif(not shutil.which("as"), reason="needs binutils: install it with apt-get")
def test_the_guest_in_the_code_is_the_one_in_the_source(tmp_path: Path) -> None:
    compiled, plain = tmp_path / "probe.o", tmp_path / "probe.bin"
    subprocess.run(["as", "--64", "-o", compiled, SOURCE], check=True)
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", compiled, plain], check=True)
    assert plain.read_bytes() == kvm._GUEST
