"""virtctl pause: the guest's processors stop, and it keeps what it holds."""

import click

from kubevirt.cli import completing, options
from kubevirt.cli.flags import Command


@click.command("pause", cls=Command)
@options.server
@click.argument(
    "machine", metavar="vm|vmi NAME", nargs=-1, required=True, shell_complete=completing.words
)
@options.dry_run
@options.waiting
@options.output
def command(
    *,
    machine: tuple[str, ...],
    is_dry: bool,
    is_waiting: bool,
    timeout_s: float,
    output: str,
) -> None:
    """Pause a virtual machine."""
    from kubevirt.cli import changing, targets  # noqa: PLC0415  # --help needs none of this

    target = changing.as_instance(targets.of_kind(machine))
    how = changing.How(is_dry=is_dry, is_waiting=is_waiting, timeout_s=timeout_s, output=output)
    changing.change(target, "pause", changing.is_paused, how, {})
