"""kubectl, which the home does not bring: any version speaks to the API, and `exec`, `attach` and `cp` need one that
speaks websockets. This home does not speak SPDY, as older ones do there.
"""

import re
from typing import Final

from kubevirt.embedded.doctor.finding import Finding, ok, warning

NAME: Final = "kubectl"
GOOD: Final = (1, 30)
_IF_ASKED: Final = (1, 29)
_VARIABLE: Final = "KUBECTL_REMOTE_COMMAND_WEBSOCKETS"
SOURCE: Final = (
    f"take {GOOD[0]}.{GOOD[1]} or newer, which https://kubernetes.io/docs/tasks/tools tells how to install, or"
    " cluster-up/kubectl.sh of a checkout, which builds one"
)
"""Not Debian's package: that of Debian 12 is 1.20."""


def judged(version: str, place: str) -> Finding:
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if not numbers:
        return ok(NAME, place)  # nothing is held against one that does not tell
    found = (int(numbers[1]), int(numbers[2]))
    if found >= GOOD:
        return ok(NAME, f"{version} ({place})")
    cause = f"{version} ({place}) speaks SPDY for exec, attach and cp, which this home does not"
    if found >= _IF_ASKED:
        return warning(NAME, cause, f"set {_VARIABLE}=true, or {SOURCE}")
    return warning(NAME, cause, SOURCE)
