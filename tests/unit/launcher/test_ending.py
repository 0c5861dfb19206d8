"""How a guest ended, in one sentence, whoever was there to see it."""

import pytest

from kubevirt.components.launcher.ending import ending
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
