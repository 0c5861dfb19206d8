"""A commission: how a launcher without a handler is told what to run, and tells what became of it.

    whoever started it  ──  an instance  ──►  manager
                        ◄──  that it runs, or why it does not  ──

Both are files in the folder that they share. A handler would call; but a call takes gRPC at both ends, a fifth of
all that a start imports, and a guest can do without until it runs. A manager that is killed on the way is
started again, and finds the commission and no outcome yet.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.base.errors import Retry, UserError, is_bug
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger
from kubevirt.components.launcher.arrival import arrival
from kubevirt.components.launcher.preparer import PreparerDied

log = get_logger(__name__)

INSTANCE: Final = "commission.json"
OUTCOME: Final = "outcome.json"
INSTANCE_LIMIT: Final = 16 << 20
OUTCOME_LIMIT: Final = 1 << 20


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    refusal: str | None = None
    """Why there is no guest; None if it runs."""
    notes: str = ""
    """What the guest's owner should know about a start that went well, a line for each."""


class Commission:
    def __init__(self, folder: str | Path) -> None:
        """`folder` is the one that both share; what is in it may be anybody's."""
        self._folder = Path(folder)

    # By whoever started the launcher.

    async def given(self, instance: bytes, *, reader: int) -> str:
        """Returns the notes when the guest runs; raises a `UserError` with the launcher's words if not.

        `reader` is the launcher's user, and the only one: an instance may hold passwords.
        """
        with Root.open(self._folder) as root:
            root.write(INSTANCE, instance, owner=(reader, reader), durable=False)
            await arrival(self._folder / OUTCOME)
            found = _understood(root.read(OUTCOME, limit=OUTCOME_LIMIT))
        if found.refusal is not None:
            raise UserError(found.refusal)
        return found.notes

    # By the manager.

    async def carried_out(self, start: Callable[[bytes], Awaitable[str]]) -> None:
        """Waits for the instance, starts it, and tells the outcome, unless an earlier manager did."""
        with Root.open(self._folder) as root:
            if root.exists(OUTCOME):
                return
            await arrival(self._folder / INSTANCE)
            outcome = await _outcome(start(root.read(INSTANCE, limit=INSTANCE_LIMIT)))
            root.write(OUTCOME, msgspec.json.encode(outcome), durable=False)


def _understood(outcome: bytes) -> Outcome:
    try:
        return msgspec.json.decode(outcome, type=Outcome)
    except msgspec.DecodeError as error:
        raise Retry(f"what the launcher says of its guest cannot be understood: {error}") from None


async def _outcome(starting: Awaitable[str]) -> Outcome:
    try:
        return Outcome(notes=await starting)
    except PreparerDied:  # the next manager has another one
        raise
    except Exception as error:
        if is_bug(error):
            log.exception("the guest cannot be started")
        return Outcome(refusal=str(error) or type(error).__name__)
