"""States of a guest and why it is in them, under KubeVirt's names.

The numbers are libvirt's and never change; one it adds later reads as `Unknown`.
"""

from enum import StrEnum
from typing import Final

import msgspec


class State(StrEnum):
    NO_STATE = "NoState"
    RUNNING = "Running"
    BLOCKED = "Blocked"
    PAUSED = "Paused"
    SHUTTING_DOWN = "ShuttingDown"
    SHUT_OFF = "Shutoff"
    CRASHED = "Crashed"
    PM_SUSPENDED = "PMSuspended"


UNKNOWN: Final = "Unknown"


class DomainState(msgspec.Struct, frozen=True):
    state: State
    reason: str = UNKNOWN

    @property
    def is_alive(self) -> bool:
        """Whether a QEMU process stands behind it."""
        return self.state not in (State.NO_STATE, State.SHUT_OFF, State.CRASHED)


_STATES: Final = tuple(State)

_REASONS: Final[dict[State, tuple[str, ...]]] = {
    State.RUNNING: (
        UNKNOWN,
        "Booted",
        "Migrated",
        "Restored",
        "FromSnapshot",
        "Unpaused",
        "MigrationCanceled",
        "SaveCanceled",
        "Wakeup",
        "Crashed",
        "Postcopy",
        "PostcopyFailed",
    ),
    State.PAUSED: (
        UNKNOWN,
        "User",
        "Migration",
        "Save",
        "Dump",
        "IOError",
        "Watchdog",
        "FromSnapshot",
        "ShuttingDown",
        "Snapshot",
        "Crashed",
        "StartingUp",
        "Postcopy",
        "PostcopyFailed",
        "APIError",
    ),
    State.SHUTTING_DOWN: (UNKNOWN, "User"),
    State.SHUT_OFF: (
        UNKNOWN,
        "Shutdown",
        "Destroyed",
        "Crashed",
        "Migrated",
        "Saved",
        "Failed",
        "FromSnapshot",
        "Daemon",
    ),
    State.CRASHED: (UNKNOWN, "Panicked"),
}


def state_of(number: int, reason: int) -> DomainState:
    state = _STATES[number] if 0 <= number < len(_STATES) else State.NO_STATE
    return DomainState(state, named(_REASONS.get(state, ()), reason))


def named(names: tuple[str, ...], number: int) -> str:
    return names[number] if 0 <= number < len(names) else UNKNOWN
