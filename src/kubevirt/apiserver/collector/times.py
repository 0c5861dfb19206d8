"""Times as they stand in objects."""

from datetime import UTC, datetime
from typing import Final

FORM: Final = "%Y-%m-%dT%H:%M:%SZ"


def parsed(text: str) -> datetime:
    return datetime.strptime(text, FORM).replace(tzinfo=UTC)
