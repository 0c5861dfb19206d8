"""Notes: what a conversion did differently from what was asked. The launcher makes events of them."""

import msgspec


class Note(msgspec.Struct, frozen=True, kw_only=True):
    reason: str
    """CamelCase word, the event's reason."""
    message: str
    """One sentence: what was asked, what was done instead, why."""
