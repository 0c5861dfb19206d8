"""How a user reaches into a guest by the network: forwarded ports, and programs that ask for a password."""

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.vms.place import LIMIT_S, Place

from kubevirt.testing.home import virtctl_program


@contextmanager
def forwarded(place: Place, *ports: str) -> Iterator[list[int]]:
    """Local ports of `virtctl port-forward`, in order."""
    words = virtctl(place, "port-forward", "vm/testvm", *ports)
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, env=place.home.environment
    ) as program:
        assert program.stdout
        try:
            lines = [program.stdout.readline() for _ in ports]
            assert all(line.startswith("forwarding ") for line in lines), lines
            yield [int(line.split(":")[1].split()[0]) for line in lines]
        finally:
            program.send_signal(signal.SIGINT)


def virtctl(place: Place, *words: str) -> list[str]:
    """For a program that goes on, or that has an environment of its own."""
    return [str(virtctl_program()), f"--namespace={place.namespace}", *words]


def with_password(place: Place, folder: Path) -> dict[str, str]:
    """For ssh: who asks for a password is told it."""
    teller = folder / "password"
    teller.write_text("#!/bin/sh\necho gocubsgo\n")
    teller.chmod(0o700)
    told = {"SSH_ASKPASS": str(teller), "SSH_ASKPASS_REQUIRE": "force"}
    return {**place.home.environment, **told}


def printed(words: Sequence[str], environment: dict[str, str]) -> str:
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
        env=environment,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
