"""virtctl console: the serial console of a guest."""

import click

from kubevirt.cli import completing, options
from kubevirt.cli.flags import Command, Duration


@click.command("console", cls=Command)
@options.server
@click.argument("instance", metavar="VMI", shell_complete=completing.instances)
@click.option(
    "--timeout",
    "timeout_s",
    type=Duration("m"),
    default=300.0,
    show_default="5",
    help="Minutes to wait for a guest that is about to run; or a time such as 30s.",
)
@click.option(
    "--wait/--no-wait",
    "is_waiting",
    default=False,
    help="Also for a guest that is not there yet, or not any longer.",
)
def command(*, instance: str, timeout_s: float, is_waiting: bool) -> None:
    """Open the serial console of a guest. Ctrl+] ends it."""
    from functools import partial  # noqa: PLC0415  # --help needs none of this

    from kubevirt.cli import asking, changing, consoles, targets  # noqa: PLC0415

    target = changing.as_instance(targets.parse(instance, targets.Kind.VMI))
    asking.ask(partial(consoles.attach, target, timeout_s=timeout_s, is_waiting=is_waiting))
