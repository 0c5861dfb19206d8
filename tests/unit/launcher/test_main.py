"""The way from flags to the first process of a container."""

import signal
import sys
import textwrap

import pytest

from kubevirt.base import commands
from kubevirt.components.launcher import main

ASKED_WHILE_STARTING = """
import os, signal, sys
from kubevirt.components.launcher import flags, launching, main

def asked_to_end(_):
    os.kill(os.getpid(), signal.SIGTERM)

def what_it_becomes(*_):
    words = [sys.executable, "-c", "import signal; print(*signal.sigpending())"]
    return words, {}

flags.settings = lambda _: (None, 1.0)
launching.prepare = asked_to_end
launching.command = what_it_becomes
main.main(["--name", "vm"])
"""


async def test_who_asks_it_to_end_while_it_starts_is_heard_by_the_monitor() -> None:
    """A home that was brought down as soon as it was up waited a minute for launchers that had not heard it."""
    done = await commands.run(
        sys.executable, "-c", textwrap.dedent(ASKED_WHILE_STARTING), check=False
    )
    assert (done.exit_code, done.text.strip()) == (0, str(signal.SIGTERM.value))


def test_who_refuses_its_flags_hears_everything_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["--no-such-flag"]) == main.USELESS
    assert "virt-launcher --help" in capsys.readouterr().err
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ()) & set(main.ASKS_TO_END)
