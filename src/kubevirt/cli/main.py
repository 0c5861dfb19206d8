"""virtctl's entry: a table of commands, of which one is loaded.

The table has the line that `--help` shows, so that nothing is imported for it: a command that needs no server
answers within a tenth of a second.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final

import click

from kubevirt.base.errors import KubevirtError
from kubevirt.cli import exit_codes, server_flags

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS: Final = {
    "up": "Bring up a Kubernetes on this machine, in one process",
    "down": "Stop it; with --delete-data, remove it",
    "status": "Show whether it is up, and how it is",
    "doctor": "Check what this machine lacks, and say how to mend it",
    "start": "Start a virtual machine",
    "stop": "Stop it",
    "restart": "Stop it, and start it again",
    "pause": "Stop its processors; it keeps what it holds",
    "unpause": "Let it go on where it was",
    "reset": "Boot it anew, without asking its guest",
    "soft-reboot": "Ask its guest to reboot",
    "console": "Open the serial console of a guest",
    "vnc": "Open the screen of a guest, or take a picture of it",
    "ssh": "Log in to a guest, by the ssh of this machine",
    "scp": "Copy files from or to a guest, by the scp of this machine",
    "port-forward": "Reach ports of a guest from this machine",
    "guestosinfo": "Show what a guest's agent tells of its system",
    "userlist": "Show who is logged in to a guest",
    "fslist": "Show the file systems of a guest",
    "create": "Write manifests",
    "expand": "Show a machine with its instance type written into it",
    "expose": "Make a Service that leads to a guest",
    "adm": "For who runs the cluster",
    "version": "Show the versions of virtctl and of the server",
    "completion": "Write what makes a shell complete virtctl's words",
    "options": "Show the flags that all commands have",
}
"""Each is the file of its name, with _ for -."""

_FILES: Final = {"options": "common_flags"}
"""Those whose files have another name."""


class LazyCommands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        file = _FILES.get(cmd_name, cmd_name.replace("-", "_"))
        found: click.Command = import_module(f"kubevirt.cli.{file}").command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(_unknown(args[0]))
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem"]:
        """From the table: click would load each command to ask whether it hides."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  # only for who completes

        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        return [
            CompletionItem(name, help=line)
            for name, line in COMMANDS.items()
            if name.startswith(incomplete)
        ]


def _unknown(name: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415  # only for who mistypes

    near = get_close_matches(name, COMMANDS, n=1)
    guess = f"; did you mean {near[0]}?" if near else ""
    return f"there is no command {name}{guess}"


@click.group(
    cls=LazyCommands,
    params=list(server_flags.common(are_hidden=True)),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="All commands that ask a server take the flags of kubectl: see virtctl options.",
)
def virtctl() -> None:
    """Virtual machines as Kubernetes objects, on this machine or in a cluster."""


def main(words: list[str] | None = None) -> None:
    sys.exit(_run(words))


def _program() -> str:
    """How it was called: kubectl finds a program kubectl-virt when it is asked for `kubectl virt`."""
    return "kubectl virt" if "kubectl-virt" in sys.argv[0].rpartition("/")[2] else "virtctl"


def _run(words: list[str] | None) -> int:
    try:
        outcome = virtctl.main(
            words, prog_name=_program(), complete_var="_VIRTCTL_COMPLETE", standalone_mode=False
        )
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return exit_codes.USAGE
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else _program()
        _say(f"{_sentence(error.format_message())} (see {where} --help)")
        return exit_codes.USAGE
    except click.Abort:
        _say("interrupted")
        return exit_codes.INTERRUPTED
    except (KubevirtError, OSError) as error:
        _say(str(error))
        return exit_codes.of(str(getattr(error, "reason", "")))
    return outcome if isinstance(outcome, int) else exit_codes.OK


def _sentence(text: str) -> str:
    """Click's own begin and end as sentences of a page; ours stand after a name."""
    return (text[:1].lower() + text[1:]).rstrip(".")


def _say(text: str) -> None:
    click.echo(f"virtctl: {text}", err=True)


if __name__ == "__main__":
    main()
