"""Options that several commands have."""

import os
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from kubevirt.cli.flags import Duration
from kubevirt.cli.server_flags import server as server  # noqa: PLC0414  # the one that most have

F = TypeVar("F", bound=Callable[..., Any])

_VARIABLE: Final = "KUBEVIRT_HOME"
_DEFAULT: Final = "/var/lib/kubevirt-embedded"


def home(function: F) -> F:
    from pathlib import Path  # noqa: PLC0415  # loads a lot, for who asks no home

    return click.option(
        "--home",
        "folder",
        type=click.Path(file_okay=False, path_type=Path),
        default=lambda: Path(os.environ.get(_VARIABLE) or _DEFAULT),
        show_default=f"${_VARIABLE}, or {_DEFAULT}",
        metavar="DIR",
        help="The folder of its state.",
    )(function)


def progress(function: F) -> F:
    return click.option(
        "--progress",
        type=click.Choice(["auto", "plain", "json"]),
        default="auto",
        show_default=True,
        help="How steps are shown on standard error.",
    )(function)


def output(function: F) -> F:
    return click.option(
        "-o",
        "--output",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="The form of the answer.",
    )(function)


# How something is changed.


def dry_run(function: F) -> F:
    return click.option(
        "--dry-run", "is_dry", is_flag=True, help="Only ask whether it would be allowed."
    )(function)


def waiting(function: F) -> F:
    function = click.option(
        "--timeout",
        "timeout_s",
        type=Duration(),
        default=300.0,
        show_default="5m",
        help="For how long --wait waits.",
    )(function)
    return click.option(
        "--wait/--no-wait", "is_waiting", help="Come back only when it is done.", default=False
    )(function)


def ssh(function: F) -> F:
    """What ssh and scp have in common."""
    several = (
        click.option("-l", "--username", default="", metavar="TEXT", help="Whom to log in as."),
        click.option("-i", "--identity-file", default="", metavar="FILE", help="Your private key."),
        click.option(
            "--known-hosts",
            default="~/.ssh/kubevirt_known_hosts",
            show_default=True,
            metavar="FILE",
            help="Whom ssh knows; empty for its own files.",
        ),
        click.option(
            "-p",
            "--port",
            type=click.IntRange(1, 65535),
            default=22,
            show_default=True,
            help="Of the guest.",
        ),
        click.option(
            "-t",
            "--local-ssh-opts",
            "ssh_options",
            multiple=True,
            metavar="TEXT",
            help="An option for the program itself, such as -t '-o StrictHostKeyChecking=no'.",
        ),
    )
    for each in reversed(several):
        function = each(function)
    return function
