"""virtctl doctor: what this machine lacks, and how to mend it."""

from pathlib import Path

import click

from kubevirt.cli import exit_codes, options


@click.command("doctor")
@options.home
@options.output
def command(folder: Path, output: str) -> int:
    """Check what an embedded home needs on this machine, and say how to mend what is missing.

    The exit code is 7 if something is missing without which it does not come up.
    """
    import asyncio  # noqa: PLC0415  # --help needs none of this

    from kubevirt.cli.render import findings as render  # noqa: PLC0415
    from kubevirt.embedded.doctor.examining import examine  # noqa: PLC0415
    from kubevirt.embedded.doctor.finding import Verdict  # noqa: PLC0415
    from kubevirt.embedded.home import Home  # noqa: PLC0415

    found = asyncio.run(examine(Home(folder.absolute())))
    click.echo(render.as_json(found) if output == "json" else render.as_text(found))
    is_lacking = any(each.verdict is Verdict.MISSING for each in found)
    return exit_codes.NOT_ABLE if is_lacking else exit_codes.OK
