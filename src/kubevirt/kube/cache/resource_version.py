"""Resource versions: which of two is older, where that can be told.

Kubernetes promises since 1.35 that the versions of one resource are decimal numbers that grow, and
for its own resources and CRDs they always were. A server behind an aggregated API may use something
else: then nothing is called older, and a cache takes what it is given, as client-go does.
"""


def is_older(this: str | None, than: str | None) -> bool:
    """True only if both are numbers and `this` is the smaller."""
    if not this or not than or not (_is_number(this) and _is_number(than)):
        return False
    # Without leading zeros the longer number is the larger. It also spares `int` the hostile case
    # of a version with a million digits.
    return (len(this), this) < (len(than), than)


def newest(one: str | None, other: str | None) -> str | None:
    """The newer of two; where that cannot be told `other`, which came later."""
    return one if not other or is_older(other, one) else other


def _is_number(version: str) -> bool:
    return version.isascii() and version.isdigit() and version[0] != "0"
