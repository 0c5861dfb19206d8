"""virt-probe: words that are ours, words that are the guest's, and one line for what goes wrong."""

from pathlib import Path

import pytest

from kubevirt.components.launcher import probe

DOMAIN = ("--domainName", "default_testvm", "--timeoutSeconds", "3")


def test_what_follows_two_dashes_is_the_guests() -> None:
    ours, guests = probe._split([*DOMAIN, "--command=--help", "--", "-c", "--", "--socket=/x"])
    given = probe._parser().parse_args(ours)
    assert (given.domainName, given.timeoutSeconds, given.command) == (
        "default_testvm",
        3,
        "--help",
    )
    assert given.socket == "/var/run/kubevirt/sockets/launcher-sock"
    assert guests == ["-c", "--", "--socket=/x"]


@pytest.mark.parametrize(
    "words",
    [
        DOMAIN,
        ("--guestAgentPing",),
        (*DOMAIN, "--guestAgentPing", "--command=a"),
        (*DOMAIN, "--guestAgentPing", "stray"),
    ],
    ids=str,
)
def test_words_that_make_no_question_are_refused(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert probe.main(words) == probe.UNWELL
    said = capsys.readouterr().err
    assert said.startswith("virt-probe: ")
    assert len(said.splitlines()) == 1


def test_a_launcher_that_is_not_there_is_not_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    socket = f"--socket={tmp_path}/none"
    assert probe.main([*DOMAIN[:2], "--timeoutSeconds", "0", socket, "--guestAgentPing"]) == 1
    assert "the launcher" in capsys.readouterr().err
