"""How a guest ended, in one sentence, whoever was there to see it."""

import pytest

from kubevirt.components.launcher.ending import ending, last_words
from kubevirt.rpc import reports


@pytest.mark.parametrize(
    ("reason", "exit_code", "why", "sentence", "state", "told_reason"),
    [
        ("Shutdown", 0, "", "the guest has shut down", "Shutoff", "Shutdown"),
        (None, 0, "", "the guest has shut down", "Shutoff", "Shutdown"),
        (
            "Destroyed",
            0,
            "it did not shut down within 30 s",
            "the guest was ended: it did not shut down within 30 s",
            "Shutoff",
            "Destroyed",
        ),
        (None, -9, "it was killed", "the guest was ended: it was killed", "Shutoff", "Destroyed"),
        (
            "Destroyed",
            None,
            "",
            "the guest was ended: somebody asked libvirt to",
            "Shutoff",
            "Destroyed",
        ),
        (
            "Failed",
            -9,
            "",
            "the guest crashed: QEMU was ended by SIGKILL, by somebody or for lack of memory",
            "Crashed",
            "Crashed",
        ),
        (
            "Failed",
            0,
            "its watchdog has switched it off",
            "the guest was ended: its watchdog has switched it off",
            "Crashed",
            "Crashed",
        ),
        (None, -11, "", "the guest crashed: QEMU was ended by SIGSEGV", "Crashed", "Crashed"),
        (None, 1, "", "the guest crashed: QEMU ended with code 1", "Crashed", "Crashed"),
        (
            None,
            None,
            "",
            "the guest crashed: QEMU is gone, and nobody saw how",
            "Crashed",
            "Crashed",
        ),
        ("Panicked", 0, "", "the guest's kernel panicked", "Crashed", "Panicked"),
        ("Migrated", 0, "", "the guest runs on another node now", "Shutoff", "Migrated"),
    ],
)
def test_an_end_has_a_sentence_and_a_state(
    reason: str | None, exit_code: int | None, why: str, sentence: str, state: str, told_reason: str
) -> None:
    end = ending(reason, exit_code, why)
    assert (end.sentence, end.state, end.reason) == (sentence, state, told_reason)
    assert end.is_peaceful == (state == reports.SHUT_OFF)


LOG = b"""2026-11-15 13:55:53.239+0000: starting up libvirt version: 9.0.0
/usr/bin/qemu-system-x86_64 \\
-name guest=default_testvm
2026-11-15T14:12:30.777691Z qemu-system-x86_64: kvm run failed Bad address
2026-11-15 14:12:30.787+0000: shutting down, reason=crashed
"""


def test_a_crash_is_told_with_what_qemu_said_last() -> None:
    assert last_words(LOG) == "kvm run failed Bad address"
    end = ending("Failed", 1, "", last_words(LOG))
    assert end.sentence == (
        "the guest crashed: QEMU ended with code 1, after it said: kvm run failed Bad address"
    )


def test_what_qemu_says_cannot_break_the_line_or_the_log() -> None:
    said = last_words(b"x qemu-system-x86_64: " + b"\x1b[31m" + b"a" * 5000)
    assert len(said) == 300
    assert said.isprintable()


def test_a_qemu_that_said_nothing_has_no_last_words() -> None:
    assert last_words(b"") == ""
    assert last_words(b"/usr/bin/qemu-system-x86_64 \\\n-name guest=x,debug-threads=on\n") == ""
    assert last_words(b"2026-11-15 14:12:30.787+0000: shutting down, reason=crashed\n") == ""
