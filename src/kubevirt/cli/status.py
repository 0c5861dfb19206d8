"""virtctl status: whether a home is up, and how it is."""

from pathlib import Path

import click

from kubevirt.cli import exit_codes, options


@click.command("status")
@options.home
@options.output
def command(folder: Path, output: str) -> int:
    """Show whether the embedded home is up, and how it is.

    The exit code is 0 if it is up and answers, 3 if it is not up, 1 if something is wrong.
    """
    import asyncio  # noqa: PLC0415  # --help needs none of this

    from kubevirt.cli.render import condition as render  # noqa: PLC0415
    from kubevirt.embedded.home import Home  # noqa: PLC0415
    from kubevirt.embedded.process.condition import State, look  # noqa: PLC0415

    found = asyncio.run(look(Home(folder.absolute())))
    click.echo(render.as_json(found) if output == "json" else render.as_text(found))
    if found.state in (State.ABSENT, State.DOWN):
        return exit_codes.NOT_FOUND
    is_well = found.state is State.UP and all(each.is_well for each in found.nodes)
    is_well = is_well and (found.kubevirt is None or found.kubevirt.is_available)
    return exit_codes.OK if is_well else exit_codes.FAILED
