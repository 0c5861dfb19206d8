"""Warnings beside an answer: each once, none that a header cannot hold, and not too many of them.

Webhooks may send any number of them. What is too much is cut as Kubernetes cuts it: from then on every
warning is short, and the last ones are left out.
"""

from collections.abc import Iterable
from typing import Final

TOTAL_LIMIT: Final = 4096
"""Characters of all warnings together."""
SHORT_LIMIT: Final = 256
"""Of each, where they do not all fit."""


def shown(warnings: Iterable[str]) -> list[str]:
    """The values of `Warning` headers."""
    fit = [each for each in dict.fromkeys(warnings) if each and _fits_header(each)]
    if sum(map(len, fit)) > TOTAL_LIMIT:
        fit = list(_cut(fit))
    return [f'299 - "{_escaped(each)}"' for each in fit]


def _fits_header(text: str) -> bool:
    """Without control characters, and without what is no UTF-8."""
    return all(ord(each) >= 0x20 and not 0x7F <= ord(each) < 0xA0 for each in text) and not any(
        0xD800 <= ord(each) < 0xE000 for each in text
    )


def _cut(texts: Iterable[str]) -> Iterable[str]:
    written = 0
    for text in texts:
        if written >= TOTAL_LIMIT:
            return
        short = text[:SHORT_LIMIT]
        written += len(short)
        yield short


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
