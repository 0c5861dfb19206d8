"""Who asks."""

from collections.abc import Mapping

import msgspec

MASTERS = "system:masters"
"""The group that may do everything."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    user: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = {}


ANONYMOUS = Identity(user="system:anonymous", groups=("system:unauthenticated",))
SERVER = Identity(user="system:apiserver", groups=(MASTERS,))
"""The server itself, where it writes on its own behalf."""
