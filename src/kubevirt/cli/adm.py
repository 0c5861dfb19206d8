"""virtctl adm: for who runs the cluster."""

import click

from kubevirt.cli import options
from kubevirt.cli.flags import Command

COMPONENTS = ("virt-api", "virt-controller", "virt-handler", "virt-launcher", "virt-operator")
SHOW = "show"


@click.group("adm")
def command() -> None:
    """For who runs the cluster."""


@command.command(
    "log-verbosity", cls=Command, bare={f"--{each}": SHOW for each in (*COMPONENTS, "all")}
)
@options.server
@click.option("--virt-api", metavar="[=0-9]", help="Show, or with a value set, its verbosity.")
@click.option("--virt-controller", metavar="[=0-9]", help="Likewise.")
@click.option("--virt-handler", metavar="[=0-9]", help="Likewise.")
@click.option("--virt-launcher", metavar="[=0-9]", help="Likewise; for guests that start later.")
@click.option("--virt-operator", metavar="[=0-9]", help="Likewise.")
@click.option("--all", metavar="[=0-9]", help="Of all of them; a single one may differ.")
@click.option(
    "--reset", "is_reset", is_flag=True, help="All to the default, 2, but those that are set."
)
@options.output
def log_verbosity(*, is_reset: bool, output: str, **given: str | None) -> None:
    """Show how much the components log, or change it: 0 is least, 9 most."""
    from functools import partial  # noqa: PLC0415  # --help needs none of this

    from kubevirt.cli import asking, verbosity  # noqa: PLC0415

    named = {name.replace("_", "-"): value for name, value in given.items() if value is not None}
    wish = verbosity.Wish.of(named, is_reset=is_reset)
    asking.ask(partial(verbosity.carry_out, wish, output))
