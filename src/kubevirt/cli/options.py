"""Options that several commands have."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_VARIABLE: Final = "KUBEVIRT_HOME"
_DEFAULT: Final = "/var/lib/kubevirt-embedded"


def home(function: F) -> F:
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
