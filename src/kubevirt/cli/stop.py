"""virtctl stop: the guest shuts down, and its instance goes."""

import click

from kubevirt.cli import completing, options
from kubevirt.cli.flags import Command


@click.command("stop", cls=Command)
@options.server
@click.argument("machine", metavar="VM", shell_complete=completing.machines)
@click.option("--force", is_flag=True, help="Cut it off; wants --grace-period.")
@click.option(
    "--grace-period",
    "grace_period_s",
    type=int,
    default=-1,
    show_default=True,
    help="Seconds to shut down in, in place of its own; -1 leaves it.",
)
@options.dry_run
@options.waiting
@options.output
def command(
    *,
    machine: str,
    force: bool,
    grace_period_s: int,
    is_dry: bool,
    is_waiting: bool,
    timeout_s: float,
    output: str,
) -> None:
    """Stop a virtual machine."""
    if force and grace_period_s < 0:
        raise click.UsageError("--force wants to know how long: add --grace-period=0")
    from kubevirt.cli import changing, targets  # noqa: PLC0415  # --help needs none of this

    target = changing.only(targets.parse(machine, targets.Kind.VM), targets.Kind.VM, "stop")
    how = changing.How(is_dry=is_dry, is_waiting=is_waiting, timeout_s=timeout_s, output=output)
    body = {"gracePeriod": grace_period_s} if grace_period_s >= 0 else {}
    changing.change(target, "stop", changing.machine_is("Stopped"), how, body)
