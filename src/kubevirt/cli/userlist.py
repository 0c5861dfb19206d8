"""virtctl userlist: who is logged in to a guest."""

import click

from kubevirt.cli import completing, options
from kubevirt.cli.flags import Command


@click.command("userlist", cls=Command)
@options.server
@click.argument("instance", metavar="VMI", shell_complete=completing.instances)
@click.option(
    "-o", "--output", type=click.Choice(["json"]), default="json", help="There is one form."
)
def command(*, instance: str, output: str) -> None:
    """Show who is logged in to the guest, as its agent tells."""
    del output
    from kubevirt.cli import guest_info  # noqa: PLC0415  # --help needs none of this

    guest_info.show(instance, "userlist")
