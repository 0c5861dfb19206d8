"""`virt-launcher`: reads its flags, then becomes the first process of a guest's container.

    virt-launcher --name NAME --uid UID …             in a pod, as virt-controller writes it
    virt-launcher --standalone vmi.yaml --console     on a plain machine, by root: see `standalone`

In a pod nothing of this module stays: `exec` gives all its memory back, and what goes on is `monitor.py`.
"""

import gc
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

STANDALONE = "STANDALONE_VMI"
"""A whole manifest as text; as upstream has it, for machines without a cluster."""
USELESS = 64
"""Flags that will not be better next time; EX_USAGE of sysexits.h."""

ASKS_TO_END = (signal.SIGTERM, signal.SIGINT)

RARELY = 100_000
"""New objects between two looks for garbage. Imports alone would cause dozens, a tenth of the start."""


def main(arguments: Sequence[str] | None = None) -> int:
    if (
        arguments is None
    ):  # a program of its own: it lives for a second, and hardly makes any garbage
        gc.set_threshold(RARELY)
    words = list(sys.argv[1:] if arguments is None else arguments)
    # Each way imports only its own: a start is measured in milliseconds.
    if _is_standalone(words):
        from kubevirt.components.launcher.standalone import cli  # noqa: PLC0415

        return cli.main(words, become)
    if arguments is None:
        # msgspec takes it if it is there, and otherwise Python's own, which is loaded in any case. Nobody else wants
        # it on this way.
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # "do not import"
    return _in_a_pod(words)


def _is_standalone(words: Sequence[str]) -> bool:
    named = any(word.split("=")[0] in {"--standalone", "-standalone"} for word in words)
    return named or bool(os.environ.get(STANDALONE))


def _in_a_pod(words: Sequence[str]) -> int:
    # The kernel drops what would end a first process that has made no provision. Blocked it is kept, also over exec,
    # and the monitor hears of it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ASKS_TO_END)
    try:
        return _become_monitor(words)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _become_monitor(words: Sequence[str]) -> int:  # noqa: RET503  # who becomes another does not return
    from kubevirt.base.errors import UserError  # noqa: PLC0415
    from kubevirt.components.launcher import flags, launching  # noqa: PLC0415

    try:
        settings, grace_s = flags.settings(words)
        launching.prepare(settings)
    except UserError as error:
        print(f"virt-launcher: {error}", file=sys.stderr)  # noqa: T201  # nobody else listens yet
        return USELESS
    become(*launching.command(settings, grace_s))


def become(argv: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Goes on as another program; all memory is given back."""
    os.execve(argv[0], list(argv), environment)  # noqa: S606  # no shell; every word is ours


if __name__ == "__main__":
    sys.exit(main())
