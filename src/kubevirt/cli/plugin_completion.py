"""kubectl_complete-virt: what kubectl asks when a person types `kubectl virt` and more.

It gets the words so far, the last one perhaps unfinished, and prints what may follow, one on each line; the last
line tells the shell what to do with them.
"""

import sys
from typing import Final

from click.shell_completion import ShellComplete

from kubevirt.cli import completing
from kubevirt.cli.main import virtctl

NO_FILES: Final = ":4"
"""As kubectl's own completion says that names of files are nothing to offer."""
FILES: Final = ":0"
"""… or that they are, where nothing else fits."""


def main() -> None:
    *words, unfinished = sys.argv[1:] or [""]
    completion = ShellComplete(virtctl, {}, "virtctl", "_VIRTCTL_COMPLETE")
    last_line = NO_FILES
    for item in completion.get_completions(words, unfinished):
        if item.type == completing.FILE:
            last_line = FILES
        else:
            sys.stdout.write(f"{item.value}\t{item.help}\n" if item.help else f"{item.value}\n")
    sys.stdout.write(f"{last_line}\n")
