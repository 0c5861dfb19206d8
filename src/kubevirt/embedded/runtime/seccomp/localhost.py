"""Profiles that somebody put on the node: the OCI runtimes' format, as Kubernetes' Localhost takes it."""

import errno
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from kubevirt.base.errors import UserError
from kubevirt.host.seccomp import (
    ALLOW,
    KILL_PROCESS,
    KILL_THREAD,
    LOG,
    OPERATORS,
    TRAP,
    Comparison,
    Profile,
    Rule,
    fails_with,
)

_ACTIONS: Final = {
    "SCMP_ACT_ALLOW": ALLOW,
    "SCMP_ACT_KILL": KILL_THREAD,
    "SCMP_ACT_KILL_PROCESS": KILL_PROCESS,
    "SCMP_ACT_KILL_THREAD": KILL_THREAD,
    "SCMP_ACT_LOG": LOG,
    "SCMP_ACT_TRAP": TRAP,
}
_FAILS: Final = "SCMP_ACT_ERRNO"
_OPERATORS: Final = dict(
    zip(("NE", "LT", "LE", "EQ", "GE", "GT", "MASKED_EQ"), OPERATORS, strict=True)
)
_MOST_CALLS: Final = 4096
_MOST_ARGUMENT: Final = 5
_LARGEST: Final = (1 << 64) - 1


class _Argument(msgspec.Struct, frozen=True, rename="camel"):
    index: int
    value: int
    op: str
    value_two: int = 0


class _Call(msgspec.Struct, frozen=True, rename="camel"):
    names: Sequence[str]
    action: str
    errno_ret: int | None = None
    args: Sequence[_Argument] | None = None
    includes: dict[str, Any] | None = None
    excludes: dict[str, Any] | None = None


class _Written(msgspec.Struct, frozen=True, rename="camel"):
    default_action: str
    default_errno_ret: int | None = None
    architectures: Sequence[str] | None = None
    syscalls: Sequence[_Call] | None = None


def read(text: bytes, name: str) -> Profile:
    """`name` is for what is said of a profile that cannot be used."""
    try:
        written = msgspec.json.decode(text, type=_Written)
        return _profile(written)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise UserError(f"the seccomp profile {name} cannot be used: {error}") from None


def _profile(written: _Written) -> Profile:
    calls = written.syscalls or ()
    if sum(len(call.names) for call in calls) > _MOST_CALLS:
        raise ValueError(f"it names more than {_MOST_CALLS} calls")
    return Profile(
        default=_action(written.default_action, written.default_errno_ret),
        rules=[_rule(call) for call in calls],
        machines=[each.removeprefix("SCMP_ARCH_").lower() for each in written.architectures or ()],
    )


def _rule(call: _Call) -> Rule:
    if call.includes or call.excludes:
        raise ValueError("includes and excludes are Docker's own; write a profile without them")
    return Rule(
        names=call.names,
        action=_action(call.action, call.errno_ret),
        comparisons=[_comparison(each) for each in call.args or ()],
    )


def _action(name: str, number: int | None) -> int:
    if name == _FAILS:
        return fails_with((errno.EPERM if number is None else number) & 0xFFFF)
    if name not in _ACTIONS:
        raise ValueError(f"there is no action {name[:80]!r} here")
    return _ACTIONS[name]


def _comparison(argument: _Argument) -> Comparison:
    operator = _OPERATORS.get(argument.op.removeprefix("SCMP_CMP_"))
    values = (argument.value, argument.value_two)
    if operator is None or not 0 <= argument.index <= _MOST_ARGUMENT:
        raise ValueError(f"argument {argument.index} cannot be compared by {argument.op[:80]!r}")
    if not all(0 <= each <= _LARGEST for each in values):
        raise ValueError(f"argument {argument.index} is compared with what it cannot be")
    return Comparison(argument=argument.index, operator=operator, value=values[0], masked=values[1])
