"""What an image says about how it is run."""

import json
from typing import Any

import pytest

from kubevirt.embedded.node.neighbours import ImageConfig
from kubevirt.embedded.runtime.images.configuration import read
from kubevirt.host.oci.errors import ContainerImageError


def configuration(**run: Any) -> bytes:
    return json.dumps({"architecture": "amd64", "config": run}).encode()


def test_all_that_is_said_is_read() -> None:
    found = read(
        configuration(
            Entrypoint=["/run"],
            Cmd=["-v"],
            Env=["A=1", "B=2=3", "C", "=D"],
            User="me:us",
            WorkingDir="/work",
            StopSignal="SIGINT",
            Labels={"a": "b"},
        ),
        "demo",
    )

    assert found == ImageConfig(
        entrypoint=("/run",),
        command=("-v",),
        environment=("A=1", "B=2=3"),
        user="me:us",
        folder="/work",
        stop_signal="SIGINT",
    )


@pytest.mark.parametrize(
    "data", [b"", b"{}", b'{"config": null}', configuration(Env=None, Cmd=None, User=None)]
)
def test_an_image_may_say_nothing(data: bytes) -> None:
    assert read(data, "demo") == ImageConfig()


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b"{",
        configuration(Cmd="sh"),
        configuration(Cmd=["\0"]),
        configuration(Env=["A=1"] * 5000),
    ],
)
def test_what_no_program_can_have_is_refused(data: bytes) -> None:
    with pytest.raises(ContainerImageError, match="demo"):
        read(data, "demo")
