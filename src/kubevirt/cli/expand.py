"""virtctl expand: a machine with its instance type and its preference written into it."""

from typing import BinaryIO

import click

from kubevirt.cli import completing, options
from kubevirt.cli.flags import Command


@click.command("expand", cls=Command)
@options.server
@click.option("--vm", "machine", default="", metavar="NAME", shell_complete=completing.machines)
@click.option(
    "-f", "--file", "file", type=click.File("rb"), help="A manifest; - for standard input."
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["yaml", "json"]),
    default="yaml",
    show_default=True,
    help="The form of the answer.",
)
def command(*, machine: str, file: BinaryIO | None, output: str) -> None:
    """Show a machine with its instance type and preference written into it.

    The machine is one of the server's (--vm), or one that is not there yet (--file).
    """
    if bool(machine) == (file is not None):
        raise click.UsageError("name either a machine with --vm or a manifest with --file")
    from functools import partial  # noqa: PLC0415  # --help needs none of this

    from kubevirt.cli import asking, expanding, manifests, targets  # noqa: PLC0415

    if file is None:
        target = targets.parse(machine, targets.Kind.VM)
        found = asking.ask(partial(expanding.of_server, target))
    else:
        found = asking.ask(partial(expanding.of_manifest, expanding.read(file.read())))
    click.echo(manifests.as_text(found, output))
