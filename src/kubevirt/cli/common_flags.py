"""virtctl options: the flags that every command takes which asks a server."""

import click

from kubevirt.cli import server_flags


@click.command("options")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show the flags that all commands have.

    They stand before the command's name or after it, and mean what they mean to kubectl.
    """
    formatter = ctx.make_formatter()
    rows = []
    for option in server_flags.common():
        option.hidden = False
        if record := option.get_help_record(ctx):
            rows.append(record)
    with formatter.section("Flags of all commands that ask a server"):
        formatter.write_dl(rows)
    click.echo(formatter.getvalue().rstrip())
