"""Filters of system calls, by what containers see of them."""

import errno
import json
import platform
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.component.embedded.runtime.containers import IS_ROOT, ONLY_ROOT, python, ran, said

from kubevirt.api.core.container import SeccompProfile
from kubevirt.embedded.node.neighbours import NotNow
from kubevirt.embedded.runtime import capabilities
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.container import Mount, Rights
from kubevirt.embedded.runtime.keeper import Keeper
from kubevirt.embedded.runtime.seccomp.filters import Filters

pytestmark = pytest.mark.skipif(not IS_ROOT, reason=ONLY_ROOT)

CALLS = """
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(name, number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments))
    print(name, errno.errorcode[ctypes.get_errno()] if result < 0 else "done")
"""
X86_64 = {
    "add_key": (248, 0, 0, 0, 0, 0),
    "bpf": (321, 0, 0, 0),
    "clone3": (435, 0, 0),
    "init_module": (175, 0, 0, 0),
    "io_uring_setup": (425, 1, 0),
    "kexec_load": (246, 0, 0, 0, 0),
    "keyctl": (250, 0, 0, 0, 0, 0),
    "mount": (165, 0, 0, 0, 0, 0),
    "open_by_handle_at": (304, -1, 0, 0),
    "perf_event_open": (298, 0, 0, 0, 0, 0),
    "pivot_root": (155, 0, 0),
    "reboot": (169, 0, 0, 0, 0),
    "setns": (308, -1, 0),
    "swapon": (167, 0, 0),
    "unshare into a user namespace": (272, 0x10000000),
    "unshare of files": (272, 0x400),
    "userfaultfd": (323, 0),
    "clone into a user namespace": (56, 0x10000000 | 17, 0, 0, 0, 0),
    "nobody knows it": (1000,),
    "getpid": (39,),
}


@pytest.fixture
def filters(tmp_path: Path) -> Iterator[Filters]:
    folder = tmp_path / "profiles"
    folder.mkdir()
    with Filters(folder) as filters:
        yield filters


def only_here(machine: str = "x86_64") -> None:
    if platform.machine() != machine:
        pytest.skip(f"the numbers are those of {machine}")


async def tried(
    attempt: Attempt, keeper: Keeper, seccomp: int | None, rights: Rights | None = None
) -> dict[str, str]:
    calls = "\n".join(f"call({name!r}, *{words})" for name, words in X86_64.items())
    container = python(CALLS + calls, rights=rights or Rights())
    await ran(attempt, container, keeper, seccomp)
    return {line.rpartition(" ")[0]: line.rpartition(" ")[2] for line in said(attempt).splitlines()}


async def test_what_changes_the_machine_is_refused_and_what_nobody_knows_is_not_there(
    attempts: Path, keeper: Keeper, filters: Filters
) -> None:
    only_here()

    found = await tried(Attempt(attempts / "0"), keeper, filters.get(None))

    not_there = {"clone3", "io_uring_setup", "nobody knows it"}
    done = {"getpid", "unshare of files"}
    assert {name for name, how in found.items() if how == "ENOSYS"} == not_there
    assert {name for name, how in found.items() if how == "done"} == done
    assert {name for name, how in found.items() if how == "EPERM"} == (
        X86_64.keys() - not_there - done
    )


async def test_a_capability_brings_its_calls(
    attempts: Path, keeper: Keeper, filters: Filters
) -> None:
    only_here()
    given = (*capabilities.DEFAULT, "SYS_ADMIN", "DAC_READ_SEARCH")

    found = await tried(
        *(Attempt(attempts / "0"), keeper, filters.get(None, given)), Rights(capabilities=given)
    )

    assert found["mount"] == "EFAULT"  # it was looked at
    assert found["open_by_handle_at"] in ("EFAULT", "EBADF")
    assert found["keyctl"] == found["kexec_load"] == "EPERM"


async def test_a_container_that_is_unconfined_is_refused_by_its_rights_only(
    attempts: Path, keeper: Keeper, filters: Filters
) -> None:
    only_here()
    unconfined = filters.get(SeccompProfile(type="Unconfined"))

    found = await tried(Attempt(attempts / "0"), keeper, unconfined)

    assert unconfined is None
    assert found["swapon"] == "EPERM"
    assert found["clone3"] == "EINVAL"


async def test_no_other_socket_leads_to_the_hypervisor_below(
    attempts: Path, keeper: Keeper, filters: Filters
) -> None:
    attempt = Attempt(attempts / "0")
    script = "import socket; socket.socket(socket.AF_INET); socket.socket(socket.AF_VSOCK)"

    ending = await ran(attempt, python(script), keeper, filters.get(None))

    assert ending.code == 1
    assert f"[Errno {errno.EAFNOSUPPORT}]" in said(attempt)


FOREIGN = r"""
#include <unistd.h>
#include <sys/syscall.h>
int main(int count, char **words)
{
    long result;
    if (count > 1)                       /* x32: the numbers of a machine that only looks like ours */
        result = syscall(0x40000000 | 39);
    else                                 /* the entrance for programs of 32 bits: getpid is 20 there */
        __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory");
    write(1, "came back\n", 10);
    return 0;
}
"""


def foreign_program(folder: Path) -> str:
    source, program = folder / "foreign.c", folder / "foreign"
    source.write_text(FOREIGN)
    subprocess.run(["gcc", "-static", "-o", program, source], check=True, timeout=60)
    return str(program)


@pytest.mark.parametrize("words", [[], ["x32"]], ids=["32 bits", "x32"])
async def test_the_doors_of_other_machines_do_not_lead_past_the_filter(
    attempts: Path, keeper: Keeper, filters: Filters, tmp_path: Path, words: Sequence[str]
) -> None:
    only_here()
    mount = Mount(source=foreign_program(tmp_path), target="/foreign", is_read_only=True)
    attempt = Attempt(attempts / "0")
    container = python("", mounts=[mount], command=["/foreign", *words])

    ending = await ran(attempt, container, keeper, filters.get(None))

    assert ending.code == 128 + 31  # SIGSYS
    assert "came back" not in said(attempt)


def write(filters: Filters, name: str, profile: Any) -> SeccompProfile:
    text = profile if isinstance(profile, str) else json.dumps(profile)
    (filters._folder / name).write_text(text)
    return SeccompProfile(type="Localhost", localhost_profile=name)


async def test_a_profile_of_the_node_holds(
    attempts: Path, keeper: Keeper, filters: Filters
) -> None:
    profile = write(
        *(filters, "no-folders.json"),
        {
            "defaultAction": "SCMP_ACT_ALLOW",
            "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"],
            "syscalls": [
                {"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 28},
                {
                    "names": ["kill", "unheard_of"],
                    "action": "SCMP_ACT_ERRNO",
                    "args": [{"index": 1, "value": 10, "op": "SCMP_CMP_EQ"}],
                },
            ],
        },
    )
    if platform.machine() != "x86_64":
        pytest.skip("the profile is for x86_64")
    script = (
        "import os\n"
        "for what in (lambda: os.mkdir('/tmp/x'), lambda: os.kill(1, 10), lambda: os.kill(1, 0)):\n"
        "    try: print(what())\n"
        "    except OSError as error: print(error.errno)"
    )
    attempt = Attempt(attempts / "0")

    await ran(attempt, python(script), keeper, filters.get(profile))

    assert said(attempt).split() == [str(errno.ENOSPC), str(errno.EPERM), "None"]


@pytest.mark.parametrize(
    "profile",
    [
        "{",
        "[]",
        {"defaultAction": "SCMP_ACT_DANCE"},
        {"defaultAction": "SCMP_ACT_ALLOW", "architectures": ["SCMP_ARCH_ABACUS"]},
        {
            "defaultAction": "SCMP_ACT_ALLOW",
            "syscalls": [
                {
                    "names": ["read"],
                    "action": "SCMP_ACT_ERRNO",
                    "args": [{"index": 9, "value": 1, "op": "SCMP_CMP_EQ"}],
                }
            ],
        },
        {
            "defaultAction": "SCMP_ACT_ERRNO",
            "syscalls": [
                {
                    "names": ["mount"],
                    "action": "SCMP_ACT_ALLOW",
                    "includes": {"caps": ["SYS_ADMIN"]},
                }
            ],
        },
    ],
)
def test_a_profile_that_is_none_is_refused_with_the_reason(filters: Filters, profile: Any) -> None:
    with pytest.raises(NotNow) as caught:
        filters.get(write(filters, "bad.json", profile))

    assert caught.value.reason == "CreateContainerError"
    assert "bad.json" in caught.value.message


@pytest.mark.parametrize("name", ["none.json", "../secret.json", "/etc/hostname", "link.json", ""])
def test_a_profile_is_a_file_of_its_folder(filters: Filters, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.json").write_text('{"defaultAction": "SCMP_ACT_ALLOW"}')
    (filters._folder / "link.json").symlink_to(tmp_path / "secret.json")

    with pytest.raises(NotNow):
        filters.get(SeccompProfile(type="Localhost", localhost_profile=name))


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_one_filter_is_made_once_and_few_are_kept(filters: Filters) -> None:
    before = open_files()
    assert filters.get(None) == filters.get(SeccompProfile(type="RuntimeDefault"))

    for number in range(300):
        profile = {"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": number}
        filters.get(write(filters, "changing.json", profile))

    assert open_files() - before <= 260
