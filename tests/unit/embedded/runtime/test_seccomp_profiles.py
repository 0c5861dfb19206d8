"""Profiles of system calls, as decisions: what is allowed, what refused, and for whom."""

import errno
import json
from typing import Any

import pytest

from kubevirt.base.errors import UserError
from kubevirt.embedded.runtime import capabilities
from kubevirt.embedded.runtime.seccomp import localhost
from kubevirt.host import runtime_default
from kubevirt.host.seccomp import (
    ALLOW,
    KILL_PROCESS,
    Comparison,
    Profile,
    Rule,
    compiled,
    fails_with,
)

DANGEROUS = (
    *("mount", "umount2", "pivot_root", "setns", "bpf", "perf_event_open", "init_module", "reboot"),
    *("kexec_load", "keyctl", "add_key", "request_key", "swapon", "userfaultfd", "iopl", "acct"),
    *("open_by_handle_at", "open_tree", "move_mount", "fsopen", "syslog", "settimeofday"),
)


def action(profile: Profile, call: str) -> int:
    found = {rule.action for rule in profile.rules if call in rule.names and not rule.comparisons}
    assert len(found) <= 1, f"{call} has two fates"
    return found.pop() if found else profile.default


@pytest.mark.parametrize("call", DANGEROUS)
def test_what_changes_the_machine_is_refused(call: str) -> None:
    assert action(runtime_default.profile(capabilities.DEFAULT), call) == fails_with(errno.EPERM)


@pytest.mark.parametrize("call", ["clone3", "io_uring_setup", "vm86", "what_comes_next"])
def test_what_is_on_no_list_is_not_there(call: str) -> None:
    assert action(runtime_default.profile(capabilities.DEFAULT), call) == fails_with(errno.ENOSYS)


@pytest.mark.parametrize(
    ("capability", "call"),
    [("SYS_ADMIN", "mount"), ("SYS_MODULE", "init_module"), ("SYS_BOOT", "reboot"), ("BPF", "bpf")],
)
def test_a_capability_brings_its_calls_and_no_other(capability: str, call: str) -> None:
    profile = runtime_default.profile({*capabilities.DEFAULT, capability})

    assert action(profile, call) == ALLOW
    assert action(profile, "keyctl") == fails_with(errno.EPERM)
    others = set(DANGEROUS) - {call}
    if capability != "SYS_ADMIN":
        assert {action(profile, each) for each in others} == {fails_with(errno.EPERM)}


def test_every_call_has_one_fate() -> None:
    for given in ((), capabilities.DEFAULT, capabilities.NAMES):
        profile = runtime_default.profile(given)
        for rule in profile.rules:
            for call in rule.names:
                action(profile, call)


@pytest.mark.parametrize("given", [(), capabilities.DEFAULT, capabilities.NAMES])
def test_what_is_decided_becomes_a_program_that_the_kernel_takes(given: tuple[str, ...]) -> None:
    program = compiled(runtime_default.profile(given))

    assert len(program) % 8 == 0
    assert 0 < len(program) // 8 < 1000


def test_comparisons_of_one_argument_are_alternatives_those_of_several_are_not() -> None:
    both = [Comparison(argument=0, operator="==", value=value) for value in (1, 2)]
    two = [Comparison(argument=number, operator="<", value=9) for number in (0, 1)]
    rules = [
        Rule(names=("read", "nobody_has_it"), action=ALLOW, comparisons=both),
        Rule(names=("write",), action=ALLOW, comparisons=two),
    ]

    assert compiled(Profile(default=KILL_PROCESS, rules=rules))


def written(**more: Any) -> bytes:
    return json.dumps({"defaultAction": "SCMP_ACT_ERRNO", **more}).encode()


def test_a_written_profile_is_read() -> None:
    argument = {"index": 0, "value": 131072, "valueTwo": 8, "op": "SCMP_CMP_MASKED_EQ"}
    text = written(
        defaultErrnoRet=38,
        architectures=["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"],
        syscalls=[
            {"names": ["personality"], "action": "SCMP_ACT_ALLOW", "args": [argument]},
            {"names": ["mount"], "action": "SCMP_ACT_KILL_PROCESS", "args": None, "includes": {}},
        ],
    )

    assert localhost.read(text, "it") == Profile(
        default=fails_with(38),
        machines=["x86_64", "x86"],
        rules=[
            Rule(
                names=["personality"],
                action=ALLOW,
                comparisons=[
                    Comparison(argument=0, operator="masked-equal", value=131072, masked=8)
                ],
            ),
            Rule(names=["mount"], action=KILL_PROCESS, comparisons=[]),
        ],
    )


@pytest.mark.parametrize(
    "more",
    [
        {"defaultAction": "SCMP_ACT_NOTIFY"},
        {"syscalls": [{"names": ["a"] * 5000, "action": "SCMP_ACT_ALLOW"}]},
        {
            "syscalls": [
                {
                    "names": ["read"],
                    "action": "SCMP_ACT_ALLOW",
                    "args": [{"index": 0, "value": -1, "op": "SCMP_CMP_EQ"}],
                }
            ]
        },
        {
            "syscalls": [
                {
                    "names": ["read"],
                    "action": "SCMP_ACT_ALLOW",
                    "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_ROUGHLY"}],
                }
            ]
        },
    ],
)
def test_what_cannot_be_held_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="the seccomp profile it cannot be used"):
        localhost.read(written(**more), "it")
