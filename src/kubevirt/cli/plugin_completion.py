"""kubectl_complete-virt: what kubectl asks when a person types `kubectl virt` and more.

It gets the words so far, the last one perhaps unfinished, and prints what may follow, one on each line; the last
line tells the shell what to do with them.
"""

import sys
from typing import Final

from click.shell_completion import ShellComplete

from kubevirt.cli.main import virtctl

NO_FILES: Final = ":4"
"""As kubectl's own completion says that names of files are nothing to offer."""


def main() -> None:
    *words, unfinished = sys.argv[1:] or [""]
    completion = ShellComplete(virtctl, {}, "virtctl", "_VIRTCTL_COMPLETE")
    for item in completion.get_completions(words, unfinished):
        sys.stdout.write(f"{item.value}\t{item.help}\n" if item.help else f"{item.value}\n")
    sys.stdout.write(f"{NO_FILES}\n")
