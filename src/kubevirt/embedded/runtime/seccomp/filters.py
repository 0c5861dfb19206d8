"""Filters that were made already, ready to be given to keepers."""

import os
from collections.abc import Collection
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from kubevirt.api.core.container import SeccompProfile
from kubevirt.base.errors import ConfigError, UserError
from kubevirt.base.files import Root
from kubevirt.embedded.node.neighbours import NotNow
from kubevirt.embedded.runtime import capabilities as known
from kubevirt.embedded.runtime.seccomp import localhost
from kubevirt.host import runtime_default
from kubevirt.host.seccomp import Profile, compiled

_PROFILE_LIMIT: Final = 1 << 20
_MOST_KEPT: Final = 256
"""A node has a handful; a profile that is written anew again and again must not fill us with files."""


class Filters:
    def __init__(self, folder: Path) -> None:
        """`folder` is where profiles of the kind Localhost lie."""
        self._folder = folder
        self._made = dict[tuple[str, ...], int]()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for fd in self._made.values():
            os.close(fd)
        self._made.clear()

    def get(
        self, profile: SeccompProfile | None, capabilities: Collection[str] = known.DEFAULT
    ) -> int | None:
        """An open file with the filter of a container that has these capabilities, good until we are
        closed; None if it may make all calls. NotNow with CreateContainerError.

        Who says nothing is filtered, too: Kubernetes leaves that to its node.
        """
        match profile.type if profile else "RuntimeDefault":
            case "Unconfined":
                return None
            case "Localhost":
                return self._localhost(profile.localhost_profile or "" if profile else "")
            case _:
                return self._runtime_default(capabilities)

    def _runtime_default(self, capabilities: Collection[str]) -> int:
        key = tuple(sorted(capabilities))
        found = self._made.get(key)
        return self._kept(key, runtime_default.profile(key)) if found is None else found

    def _localhost(self, name: str) -> int:
        try:
            with Root.open(self._folder) as folder:
                text = folder.read(name, limit=_PROFILE_LIMIT)
            profile = localhost.read(text, name)
            key = (text.decode(errors="surrogateescape"),)
            found = self._made.get(key)
            return self._kept(key, profile) if found is None else found
        except (FileNotFoundError, NotADirectoryError):
            raise _refused(f"there is no seccomp profile {name!r} in {self._folder}") from None
        except UserError as error:
            raise _refused(f"the seccomp profile {name!r} cannot be used: {error}") from None

    def _kept(self, key: tuple[str, ...], profile: Profile) -> int:
        try:
            program = compiled(profile)
        except ConfigError as error:
            raise _refused(str(error)) from None
        fd = os.memfd_create("seccomp", os.MFD_CLOEXEC)
        os.write(fd, program)
        if len(self._made) >= _MOST_KEPT:
            os.close(self._made.pop(next(iter(self._made))))
        self._made[key] = fd
        return fd


def _refused(message: str) -> NotNow:
    return NotNow("CreateContainerError", message)
