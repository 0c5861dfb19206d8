"""virtctl reset: as the button on a machine's front: the guest boots anew, unasked."""

import click

from kubevirt.cli import completing, options
from kubevirt.cli.flags import Command


@click.command("reset", cls=Command)
@options.server
@click.argument("instance", metavar="VMI", shell_complete=completing.instances)
@options.waiting
@options.output
def command(
    *,
    instance: str,
    is_waiting: bool,
    timeout_s: float,
    output: str,
) -> None:
    """Reset a virtual machine instance, without asking its guest.

    The answer comes when the node has done it; with --wait, when the guest has booted anew and its agent,
    if there was one, is back.
    """
    from kubevirt.cli import changing, targets  # noqa: PLC0415  # --help needs none of this

    target = changing.as_instance(targets.parse(instance, targets.Kind.VMI))
    how = changing.How(is_waiting=is_waiting, timeout_s=timeout_s, output=output)
    changing.change(target, "reset", changing.has_rebooted, how)
