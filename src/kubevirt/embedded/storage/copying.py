"""Copies of volumes: they share what they have in common where the file system can, and holes stay holes.

A copy is there as a whole or not at all. What a crash leaves of one is cleared away with the volumes that were
on their way out (`provisioner.py`). The source must not be written to meanwhile; whoever asks sees to that
(`clones.py`).
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from kubevirt.base.commands import run
from kubevirt.base.errors import CommandFailed, Retry
from kubevirt.base.files import Root
from kubevirt.embedded.storage.provisioner import GOING

TIMEOUT_S: Final = 4 * 3600.0


async def _believe() -> None:
    """It is a good copy."""


async def copy(
    source: Path,
    target: Path,
    *,
    check: Callable[[], Awaitable[None]] = _believe,
    timeout_s: float = TIMEOUT_S,
) -> None:
    """A file or a folder of a volume, as another one that is not there yet, with owners and rights.
    No link is followed, and nothing that is mounted inside comes along. `check` is asked when all is copied, and
    raises for a copy that shall not be believed.
    """
    draft = target.parent / f"{GOING}{os.urandom(8).hex()}"
    try:
        await run(
            "cp",
            *("--archive", "--one-file-system", "--reflink=auto", "--sparse=always"),
            *("--no-target-directory", "--", source, draft),
            timeout_s=timeout_s,
        )
        await check()
        _put_in_place(draft, target)
    except CommandFailed as error:
        if b"No space left on device" in error.stderr:
            raise Retry(f"the disk of {target.parent} is full; make room there") from None
        raise
    finally:
        await asyncio.to_thread(_clear_away, draft)


def _put_in_place(draft: Path, target: Path) -> None:
    if os.path.lexists(target):
        raise FileExistsError(f"{target} is there already")
    draft.rename(target)


def _clear_away(draft: Path) -> None:
    if draft.is_dir():
        with Root.open(draft.parent) as root:
            root.remove_tree(draft.name)
    else:
        draft.unlink(missing_ok=True)
