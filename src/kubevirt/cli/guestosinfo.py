"""virtctl guestosinfo: the operating system of a guest."""

import click

from kubevirt.cli import completing, options
from kubevirt.cli.flags import Command


@click.command("guestosinfo", cls=Command)
@options.server
@click.argument("instance", metavar="VMI", shell_complete=completing.instances)
@click.option(
    "-o", "--output", type=click.Choice(["json"]), default="json", help="There is one form."
)
def command(*, instance: str, output: str) -> None:
    """Show what the guest's agent tells of its operating system."""
    del output
    from kubevirt.cli import guest_info  # noqa: PLC0415  # --help needs none of this

    guest_info.show(instance, "guestosinfo")
