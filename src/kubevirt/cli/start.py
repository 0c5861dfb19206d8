"""virtctl start: a machine's instance is made, and its guest boots."""

import click

from kubevirt.cli import completing, options
from kubevirt.cli.flags import Command


@click.command("start", cls=Command)
@options.server
@click.argument("machine", metavar="VM", shell_complete=completing.machines)
@click.option("--paused", is_flag=True, help="The guest waits before its first instruction.")
@options.dry_run
@options.waiting
@options.output
def command(
    *,
    machine: str,
    paused: bool,
    is_dry: bool,
    is_waiting: bool,
    timeout_s: float,
    output: str,
) -> None:
    """Start a virtual machine."""
    from kubevirt.cli import changing, targets  # noqa: PLC0415  # --help needs none of this

    target = changing.only(targets.parse(machine, targets.Kind.VM), targets.Kind.VM, "start")
    wanted = ("Paused",) if paused else ("Running",)
    how = changing.How(is_dry=is_dry, is_waiting=is_waiting, timeout_s=timeout_s, output=output)
    body = {"paused": True} if paused else {}
    changing.change(target, "start", changing.machine_is(*wanted), how, body)
