"""Where the keeper has its open files: the numbers of keeper.h."""

from typing import Final

STATUS: Final = 4
SELF: Final = 6
WORDS: Final = 14
