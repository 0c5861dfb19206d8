"""What the embedded server is not asked yet, and which part of its issue will make it be asked.

An entry goes away with the part that it names. At the end only those may be left that need another
program of Kubernetes' own.
"""

from collections.abc import Mapping

import pytest

OTHERS_PROGRAMS = "starts Kubernetes' own programs, with flags that only they have"
ACCESS = "runs with auth/: RBAC, impersonation and tokens of service accounts"

NOT_YET: Mapping[str, str] = {}
"""By the name of a test, or of a module."""


def reason(item: pytest.Item) -> str | None:
    names: list[str] = getattr(item, "fixturenames", [])
    if "start_light_cluster" in names or "light_cluster" in names:
        return OTHERS_PROGRAMS
    name = item.name.partition("[")[0]
    return NOT_YET.get(name) or NOT_YET.get(item.path.stem)
