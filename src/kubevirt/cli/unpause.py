"""virtctl unpause: a paused guest goes on where it was."""

import click

from kubevirt.cli import completing, options
from kubevirt.cli.flags import Command


@click.command("unpause", cls=Command)
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
    """Unpause a virtual machine."""
    from kubevirt.cli import changing, targets  # noqa: PLC0415  # --help needs none of this

    target = changing.as_instance(targets.of_kind(machine))
    how = changing.How(is_dry=is_dry, is_waiting=is_waiting, timeout_s=timeout_s, output=output)
    changing.change(target, "unpause", changing.is_running, how, {})
