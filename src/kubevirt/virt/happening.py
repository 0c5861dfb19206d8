"""What users are told beside an object's status: an event, as data."""

import re
from typing import Final

import msgspec

_FIGURE: Final = re.compile(r"\w*\d\w*")


class Happening(msgspec.Struct, frozen=True):
    reason: str
    message: str
    is_warning: bool = False


class Failure(msgspec.Struct, frozen=True):
    """What came of the last try to do something for an object, if it went wrong."""

    reason: str
    message: str

    def is_news(self, before: "Failure | None") -> bool:
        """Whether it says more than the one before. Figures alone, such as the room that is left or the name of a
        draft, do not: they change with every try.
        """
        if before is None or before.reason != self.reason:
            return True
        return _FIGURE.sub("", before.message) != _FIGURE.sub("", self.message)
