"""What the server makes up: uids and the ends of generated names."""

import secrets
import uuid
from typing import Final, Protocol

SUFFIX_CHARACTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""Without vowels and what looks like another: a generated name never spells a word."""
SUFFIX_LENGTH: Final = 5
PREFIX_LIMIT: Final = 63 - SUFFIX_LENGTH


class Chance(Protocol):
    """A port, so that simulations can repeat themselves."""

    def uid(self) -> str: ...

    def suffix(self) -> str: ...


class TrueChance:
    def uid(self) -> str:
        return str(uuid.uuid4())

    def suffix(self) -> str:
        return "".join(secrets.choice(SUFFIX_CHARACTERS) for _ in range(SUFFIX_LENGTH))
