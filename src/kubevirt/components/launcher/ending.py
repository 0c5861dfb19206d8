"""The end of a guest in words, and as the state that its handler judges by.

libvirt knows best, if it was there: it heard QEMU say that the guest powered itself off. If it was away, only
QEMU's exit code is left, which the monitor has kept.
"""

import re
import signal
from collections.abc import Mapping
from typing import Final

import msgspec

from kubevirt.rpc import reports


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    sentence: str
    state: str
    """One of `reports`."""
    reason: str

    @property
    def is_peaceful(self) -> bool:
        return self.reason in {reports.BY_SHUTDOWN, reports.BY_DESTRUCTION, reports.BY_MIGRATION}


WORDS_LIMIT: Final = 300
_QEMU_SAYS: Final = re.compile(r"qemu-system-\w+: (.+)")

_STATES: Final[Mapping[str, str]] = {
    reports.BY_CRASH: reports.CRASHED,
    reports.BY_PANIC: reports.CRASHED,
    reports.BY_FAILURE: reports.CRASHED,
}


def ending(
    reason: str | None, exit_code: int | None, why_ended: str = "", last_words: str = ""
) -> Ending:
    """`reason` is libvirt's, or None if it was not there; `why_ended` is why we or its watchdog have ended
    it, if we or it did; `last_words` are QEMU's own.
    """
    reason = reason or _guessed(exit_code, why_ended)
    return Ending(
        sentence=_sentence(reason, exit_code, why_ended, last_words),
        state=_STATES.get(reason, reports.SHUT_OFF),
        reason=reports.BY_CRASH if reason == reports.BY_FAILURE else reason,
    )


def _guessed(exit_code: int | None, why_ended: str) -> str:
    if why_ended:
        return reports.BY_DESTRUCTION
    # A guest that powers off lets QEMU end in peace, and so does a SIGTERM that somebody sent.
    return reports.BY_SHUTDOWN if exit_code == 0 else reports.BY_FAILURE


def _sentence(reason: str, exit_code: int | None, why_ended: str, last_words: str) -> str:
    match reason:
        case reports.BY_SHUTDOWN:
            return "the guest has shut down"
        case reports.BY_DESTRUCTION:
            return f"the guest was ended: {why_ended or 'somebody asked libvirt to'}"
        case reports.BY_MIGRATION:
            return "the guest runs on another node now"
        case reports.BY_PANIC:
            return "the guest's kernel panicked"
        case reports.BY_CRASH | reports.BY_FAILURE if why_ended:
            return f"the guest was ended: {why_ended}"
        case reports.BY_CRASH | reports.BY_FAILURE:
            said = f", after it said: {last_words}" if last_words else ""
            return f"the guest crashed: QEMU {how(exit_code)}{said}"
        case _:
            return f"the guest has ended ({reason}): QEMU {how(exit_code)}"


def how(exit_code: int | None) -> str:
    """The end of a process in words."""
    if exit_code is None:
        return "is gone, and nobody saw how"
    if exit_code >= 0:
        return f"ended with code {exit_code}"
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = f"signal {-exit_code}"
    why = ", by somebody or for lack of memory" if exit_code == -signal.SIGKILL else ""
    return f"was ended by {name}{why}"


def last_words(log: bytes) -> str:
    """What QEMU itself said last, of a log that libvirt writes to as well; empty if it said nothing."""
    said = _QEMU_SAYS.findall(log.decode(errors="replace"))
    words = said[-1] if said else ""
    return "".join(each if each.isprintable() else " " for each in words)[:WORDS_LIMIT]
