"""Messages of a websocket to a command, and how its end is told."""

import json

import pytest

from kubevirt.embedded.node.endpoint import outcomes
from kubevirt.embedded.node.endpoint.channels import (
    V4,
    V5,
    Input,
    InputEnded,
    Resized,
    Said,
    parsed,
)


@pytest.mark.parametrize(
    ("message", "protocol", "said"),
    [
        (b"\x00hello", V5, Input(b"hello")),
        (b"\x00", V5, None),
        (b"", V5, None),
        (b"\x04" + b'{"Width":80,"Height":24}', V4, Resized(80, 24)),
        (b"\x04" + b"{}", V4, None),
        (b"\x04" + b"nonsense", V4, None),
        (b"\xff\x00", V5, InputEnded()),
        (b"\xff\x00", V4, None),
        (b"\xff\x01", V5, None),
        (b"\x01hello", V5, None),
        (b"\x09hello", V5, None),
    ],
)
def test_a_message_is_for_one_channel(message: bytes, protocol: str, said: Said | None) -> None:
    assert parsed(message, protocol) == said


def test_a_command_that_went_well_is_a_success() -> None:
    assert json.loads(outcomes.ended(0, ["true"])) == {"status": "Success"}


def test_a_command_that_failed_tells_its_code() -> None:
    told = json.loads(outcomes.ended(7, ["sh", "-c", "exit 7"]))

    assert (told["status"], told["reason"]) == ("Failure", "NonZeroExitCode")
    assert told["details"] == {"causes": [{"reason": "ExitCode", "message": "7"}]}
    assert told["message"] == (
        "command terminated with non-zero exit code:"
        " error executing command [sh -c exit 7], exit code 7"
    )


def test_a_command_that_never_ran_is_an_error_of_the_node() -> None:
    told = json.loads(outcomes.not_started("cannot start x: No such file or directory"))

    assert (told["status"], told["reason"], told["code"]) == ("Failure", "InternalError", 500)
    assert "cannot start x: No such file or directory" in told["message"]
