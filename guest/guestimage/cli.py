"""The command behind `make guest-image`.

Exit codes: 0 done, 1 it did not work and one sentence says why, 2 the command line is wrong.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence

from guestimage import errors, image, progress

FAILED = 1


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    # A terminated `make` must end its compilers like an interrupted one.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        say = progress.Progress()
        images = image.ready(os.environ, say)
    except errors.GuestError as error:
        sys.stderr.write(f"guest-image: {error}\n")
        return FAILED
    except KeyboardInterrupt:
        sys.stderr.write("guest-image: interrupted; the next run goes on from here\n")
        return 128 + signal.SIGINT
    if not arguments.quiet:
        _show(images, say)
    sys.stdout.write(f"{images.folder}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="guestimage",
        description="Build the guest for tests and demos; prints the folder it is in. See docs/guest.md.",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but the folder")
    return parser


def _show(images: image.Images, say: progress.Progress) -> None:
    for path in sorted(images.folder.iterdir()):
        say.say(f"{path.stat().st_size / 1e6:6.1f} MB  {path.name}")
