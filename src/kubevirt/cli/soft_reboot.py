"""virtctl soft-reboot: the guest is asked to boot anew."""

import click

from kubevirt.cli import completing, options
from kubevirt.cli.flags import Command


@click.command("soft-reboot", cls=Command)
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
    """Ask the guest of a virtual machine instance to reboot.

    The answer comes when the guest has been asked; with --wait, when it has booted anew and its agent, if
    there was one, is back.
    """
    from kubevirt.cli import changing, targets  # noqa: PLC0415  # --help needs none of this

    target = changing.as_instance(targets.parse(instance, targets.Kind.VMI))
    how = changing.How(is_waiting=is_waiting, timeout_s=timeout_s, output=output)
    changing.change(target, "soft-reboot", changing.has_rebooted, how, subresource="softreboot")
