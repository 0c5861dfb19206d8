"""The command line of the stand-alone mode, and what becomes of its errors."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kubevirt.base.errors import ConfigError, KubevirtError, UserError
from kubevirt.components.launcher.parser import Parser
from kubevirt.components.launcher.standalone.voice import say

if TYPE_CHECKING:
    from kubevirt.components.launcher.standalone.running import Become

VARIABLE: Final = "STANDALONE_VMI"
FAILED: Final = 1

_EPILOG: Final = """\
examples:
  virt-launcher --standalone vm.yaml --console
  virt-launcher --standalone vmi.yaml --volume data=/srv/data.img
  STANDALONE_VMI="$(cat vmi.yaml)" virt-launcher

Images of container disks come from the folder of --image-dir, from what `make guest-image` built, else from
their registry. The exit code is 0 when the guest powered off, and 1 otherwise.
Folders are below $KUBEVIRT_STANDALONE_HOME if it is set, else below /run and /var/lib/kubevirt-standalone.
"""


def main(words: Sequence[str], become: "Become") -> int:
    """The exit code of a run that came to nothing; one whose guest runs goes on as another program."""
    try:
        return _main(words, become)
    except KubevirtError as error:
        say(str(error))
        return FAILED


def _main(words: Sequence[str], become: "Become") -> int:
    given = _parser().parse_args(words)
    source, text = _manifest(given.standalone)
    if os.geteuid() != 0:
        raise ConfigError(
            "virt-launcher --standalone needs root: it makes a network and a sandbox; use sudo"
        )
    # Only now the weighty part: help and typing errors are answered at once.
    from kubevirt.base import log  # noqa: PLC0415
    from kubevirt.base.clock import SystemClock  # noqa: PLC0415
    from kubevirt.components.launcher.standalone.progress import Progress  # noqa: PLC0415
    from kubevirt.components.launcher.standalone.running import (  # noqa: PLC0415
        Options,
        Standalone,
    )

    options = Options(
        text=text,
        source=source,
        console=given.console,
        volumes=dict(map(_volume, given.volume)),
        image_folders=[_folder(each) for each in given.image_dir],
        environment=dict(os.environ),
        use_emulation=given.use_emulation,
        timings=given.timings,
        verbosity=given.v,
    )
    if given.v > QUIET:
        log.configure("virt-launcher", given.v)
    try:
        asyncio.run(Standalone(options, Progress(), SystemClock(), become).run())
    except asyncio.CancelledError:  # by an interruption, and said so
        return FAILED


QUIET: Final = 2
"""Up to this level the log is the launcher's affair and only what concerns a user is said."""


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="virt-launcher --standalone",
        usage="virt-launcher --standalone FILE [--console] [--volume CLAIM=PATH]...",
        allow_abbrev=False,
        description="Run the VirtualMachineInstance or VirtualMachine in FILE on this machine, as "
        "root, without any cluster. ConfigMaps and Secrets that it names may stand in the same "
        "file.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "--standalone",
        nargs="?",
        metavar="FILE",
        help=f"the manifest, YAML or JSON; - reads it from standard input. Default: ${VARIABLE}",
    )
    add("--console", action="store_true", help="the guest's serial console; Ctrl+] leaves it")
    add(
        "--volume",
        action="append",
        default=[],
        metavar="CLAIM=PATH",
        help="the disk of a PersistentVolumeClaim or DataVolume: a file, a block device, or a "
        "folder with disk.img",
    )
    add(
        "--image-dir",
        action="append",
        default=[],
        metavar="FOLDER",
        help="folder of OCI archives (*.tar) that hold container disks",
    )
    add("--use-emulation", action="store_true", help="emulate the processor, even where KVM works")
    add("--timings", action="store_true", help="show what took how long until the guest ran")
    add("-v", type=int, default=QUIET, metavar="LEVEL", help="how much is logged; default 2")
    return parser


def _manifest(name: str | None) -> tuple[str, str]:
    """What it is called, and its text."""
    if name is None:
        text = os.environ.get(VARIABLE, "")
        if not text:
            raise UserError(f"there is nothing to run: name a file, or set ${VARIABLE}")
        return f"${VARIABLE}", text
    if name == "-":
        return "standard input", sys.stdin.read()
    try:
        return name, Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{name} cannot be read: {(error.strerror or 'unknown').lower()}") from None
    except UnicodeDecodeError:
        raise UserError(f"{name} is no text, and so no manifest") from None


def _volume(word: str) -> tuple[str, Path]:
    claim, equals, path = word.partition("=")
    if not claim or not equals or not path:
        raise ConfigError(f"--volume {word} lacks a part; write it as --volume CLAIM=PATH")
    return claim, Path(path)


def _folder(name: str) -> Path:
    folder = Path(name)
    if not folder.is_dir():
        raise ConfigError(f"--image-dir {name} is no folder")
    return folder
