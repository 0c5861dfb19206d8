"""The first program in a test's sandbox: does what `virt-launcher` does in a pod, for settings from a file.

python -I inside.py SETTINGS GRACE_S
"""

import os
import sys

from kubevirt.components.launcher import launching, settings

if __name__ == "__main__":
    found = settings.read(sys.argv[1])
    launching.prepare(found)
    argv, environment = launching.command(found, float(sys.argv[2]))
    os.execve(argv[0], argv, environment)
