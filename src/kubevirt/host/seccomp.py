"""Filters of system calls, as programs for the kernel, made by libseccomp.

    program = compiled(Profile(default=ENOSYS, rules=[Rule(names=("read", "write"), action=ALLOW)]))

The library knows the numbers of all calls on all machines, compares arguments of 64 bits with a machine of
32, and finds a call among hundreds in a few steps; and it is on every Debian already, since apt needs it.
It is called through ctypes: six functions are no reason for another dependency.

A program begins by asking which kind of machine a call is made for. What is made for another one than the
profile names, such as by the entrance for programs of 32 bits or by x32's numbers, ends the process:
otherwise these doors would lead past the filter.
"""

import ctypes
import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

import msgspec

from kubevirt.base.errors import ConfigError, UserError

ALLOW: Final = 0x7FFF0000
LOG: Final = 0x7FFC0000
TRAP: Final = 0x00030000
KILL_PROCESS: Final = 0x80000000
KILL_THREAD: Final = 0x00000000
_ERRNO: Final = 0x00050000
MOST_BYTES: Final = 4096 * 8
"""The kernel takes 4096 steps of eight bytes each."""


def fails_with(number: int) -> int:
    """The action by which a call is not made, and fails in this way."""
    return _ERRNO | number


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Of an argument, counted from zero, with a number."""

    argument: int
    operator: str
    """One of OPERATORS."""
    value: int
    """With the operator masked-equal the mask."""
    masked: int = 0
    """What must be left of the argument then."""


OPERATORS: Final = ("!=", "<", "<=", "==", ">=", ">", "masked-equal")
"""In the order of libseccomp's numbers, from one."""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    names: Sequence[str]
    """Of calls. What the library does not know, the machine's programs hardly do; it is passed over."""
    action: int
    comparisons: Sequence[Comparison] = ()
    """All must hold."""


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    default: int
    """What becomes of a call that no rule names."""
    rules: Sequence[Rule]
    machines: Sequence[str] = ()
    """Beside this one, by libseccomp's names: x86 for programs of 32 bits on an x86_64."""


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("value", ctypes.c_uint64),
        ("masked", ctypes.c_uint64),
    )


_ACT_BADARCH: Final = 2
_CTL_OPTIMIZE: Final = 8
_AS_A_TREE: Final = 2


def compiled(profile: Profile) -> bytes:
    """As the kernel takes it."""
    with _filter(profile.default) as handle:
        _check(_library().seccomp_attr_set(handle, _ACT_BADARCH, KILL_PROCESS), "be made strict")
        _library().seccomp_attr_set(handle, _CTL_OPTIMIZE, _AS_A_TREE)  # older ones cannot
        for machine in profile.machines:
            _add_machine(handle, machine)
        for rule in profile.rules:
            if rule.action != profile.default:  # which the library takes for a mistake
                _add(handle, rule)
        return _exported(handle)


@cache
def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    except OSError:
        raise ConfigError(
            "there is no libseccomp, which filters system calls; install it with: "
            "apt-get install libseccomp2"
        ) from None
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_arch_resolve_name.restype = ctypes.c_uint32
    for function in (
        *(library.seccomp_attr_set, library.seccomp_arch_add, library.seccomp_export_bpf),
        *(library.seccomp_release, library.seccomp_rule_add_array),
    ):
        function.restype = ctypes.c_int
    return library


@contextmanager
def _filter(default: int) -> Iterator[ctypes.c_void_p]:
    found = _library().seccomp_init(ctypes.c_uint32(default))
    if not found:
        raise UserError("a filter of system calls cannot begin with that action")
    handle = ctypes.c_void_p(found)
    try:
        yield handle
    finally:
        _library().seccomp_release(handle)


def _add_machine(handle: ctypes.c_void_p, name: str) -> None:
    token = _library().seccomp_arch_resolve_name(name.encode())
    if not token:
        raise UserError(f"a filter of system calls is for a machine {name!r} that nobody knows")
    added = _library().seccomp_arch_add(handle, ctypes.c_uint32(token))
    if added not in (0, -errno.EEXIST):
        _check(added, f"be for {name}")


def _add(handle: ctypes.c_void_p, rule: Rule) -> None:
    for name in rule.names:
        number = _library().seccomp_syscall_resolve_name(name.encode())
        if number == -1:
            continue
        for together in _together(rule.comparisons):
            given = (_Comparison * len(together))(*map(_given, together))
            added = _library().seccomp_rule_add_array(
                handle, ctypes.c_uint32(rule.action), number, len(together), given
            )
            _check(added, f"have a rule for {name}")


def _together(comparisons: Sequence[Comparison]) -> Sequence[Sequence[Comparison]]:
    """The library takes one comparison of each argument. Of several, as runtimes read them, one must hold."""
    if len({each.argument for each in comparisons}) < len(comparisons):
        return [[each] for each in comparisons]
    return [comparisons]


def _given(comparison: Comparison) -> Any:
    operator = OPERATORS.index(comparison.operator) + 1
    return _Comparison(comparison.argument, operator, comparison.value, comparison.masked)


def _exported(handle: ctypes.c_void_p) -> bytes:
    fd = os.memfd_create("seccomp", os.MFD_CLOEXEC)
    try:
        _check(_library().seccomp_export_bpf(handle, fd), "be made")
        program = os.pread(fd, MOST_BYTES + 1, 0)
    finally:
        os.close(fd)
    if len(program) > MOST_BYTES:
        raise UserError(
            "a filter of system calls has more steps than the kernel takes; name fewer calls"
        )
    return program


def _check(result: int, what: str) -> None:
    if result < 0:
        raise UserError(f"a filter of system calls cannot {what}: {os.strerror(-result)}")
