"""virtctl restart: the guest shuts down, and another instance takes its place."""

import click

from kubevirt.cli import completing, options
from kubevirt.cli.flags import Command


@click.command("restart", cls=Command)
@options.server
@click.argument("machine", metavar="VM", shell_complete=completing.machines)
@click.option("--force", is_flag=True, help="Cut it off; wants --grace-period=0.")
@click.option(
    "--grace-period",
    "grace_period_s",
    type=int,
    default=-1,
    show_default=True,
    help="With --force, 0; -1 leaves it its own.",
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
    """Restart a virtual machine."""
    if force != (grace_period_s >= 0):
        raise click.UsageError(
            "--force and --grace-period belong together: --force --grace-period=0"
        )
    from kubevirt.cli import changing, targets  # noqa: PLC0415  # --help needs none of this

    target = changing.only(targets.parse(machine, targets.Kind.VM), targets.Kind.VM, "restart")
    how = changing.How(is_dry=is_dry, is_waiting=is_waiting, timeout_s=timeout_s, output=output)
    body = {"gracePeriodSeconds": grace_period_s} if force else {}
    changing.change(target, "restart", changing.runs_anew, how, body)
