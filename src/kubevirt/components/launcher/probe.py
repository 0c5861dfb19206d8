"""`virt-probe`: asks the guest's agent, through the launcher, whether the guest is well. For probes of a pod.

    virt-probe --domainName default_testvm --timeoutSeconds 5 --guestAgentPing
    virt-probe --domainName default_testvm --timeoutSeconds 5 --command=cat -- /run/ready

It ends with 0 if all is well, else with the exit code of the command, or 1 if there was none. What the command
printed is printed again, and so shown in the event of a probe that failed.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from typing import Final

from kubevirt.base.errors import KubevirtError
from kubevirt.components.launcher.parser import Parser
from kubevirt.rpc.calling import Caller
from kubevirt.rpc.cmd import Launcher
from kubevirt.virt.layout import Layout

UNWELL: Final = 1
MOST_CODE: Final = 255


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        ours, guests = _split(words)
        code, output = asyncio.run(_asked(_parser().parse_args(ours), guests))
    except KubevirtError as error:
        print(f"virt-probe: {error}", file=sys.stderr)  # noqa: T201  # whoever probes reads it
        return UNWELL
    sys.stdout.write(output)
    return code


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """Ours, and what follows `--`: arguments of the guest's command, whatever they look like."""
    if "--" not in words:
        return words, []
    end = words.index("--")
    return words[:end], words[end + 1 :]


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="virt-probe",
        allow_abbrev=False,
        description="Ask the guest's agent whether the guest is well.",
    )
    add = parser.add_argument
    add("--domainName", required=True, metavar="NAMESPACE_NAME", help="of the guest")
    add("--timeoutSeconds", type=int, default=1, metavar="N", help="for the answer; default 1")
    add("--socket", default=Layout().command_socket, metavar="PATH", help="of the launcher")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--guestAgentPing", action="store_true", help="a sign of life is enough")
    what.add_argument("--command", help="to run in the guest; its arguments follow --")
    return parser


async def _asked(given: argparse.Namespace, arguments: list[str]) -> tuple[int, str]:
    async with Caller(given.socket, "the launcher") as caller:
        launcher = Launcher(caller)
        if given.guestAgentPing:
            await launcher.guest_ping(given.domainName, given.timeoutSeconds)
            return 0, ""
        code, output = await launcher.exec(
            given.domainName, given.command, arguments, given.timeoutSeconds
        )
        # A process can end with no more than a byte; what does not fit is no success.
        return (code if 0 <= code <= MOST_CODE else UNWELL), output


if __name__ == "__main__":
    sys.exit(main())
