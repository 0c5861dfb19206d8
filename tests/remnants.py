"""What a run of the tests that was killed has left mounted below pytest's folders.

pytest removes the folders of old runs when a run ends. A mount in one of them cannot be removed, which would be the
failure of whoever runs next.
"""

import os
import subprocess
from pathlib import Path

_ROOT = "pytest-of-"
"""What the name of the folder begins with in which pytest has one for each run."""


def take_down() -> None:
    """All of them; what belongs to a run that is under way stays."""
    if os.geteuid() != 0:
        return
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    for line in reversed(lines):  # what was mounted last first: one may lie in another
        point = Path(line.split()[4])
        run = next((each for each in point.parents if each.parent.name.startswith(_ROOT)), None)
        if run is not None and not _is_under_way(run):
            subprocess.run(["umount", "--lazy", str(point)], check=False, timeout=60)


def _is_under_way(run: Path) -> bool:
    try:
        return Path("/proc", (run / ".lock").read_text(encoding="ascii").strip() or "none").exists()
    except OSError:  # who ends takes the lock along
        return False
