"""Warnings: what a server says beside its answer, such as that an API is deprecated.

A client takes a callback for them. `Warnings` is one that keeps them:

    heard = Warnings()
    await client.heard_by(heard).create(PODS, pod)
    for text in heard: ...
"""

import re
from collections.abc import Callable, Iterable, Iterator

OnWarning = Callable[[str], None]

# RFC 9111 calls them obsolete, Kubernetes does not: code, agent, quoted text, perhaps a date.
_WARNING = re.compile(r'\s*(\d{3}) (\S+) "((?:[^"\\]|\\.)*)"(?:\s+"[^"]*")?\s*(?:,|$)')
_KUBERNETES = "299"


class Warnings:
    """Collects warnings, each text once, in the order in which they came."""

    def __init__(self) -> None:
        self._texts: dict[str, None] = {}

    def __call__(self, text: str) -> None:
        self._texts[text] = None

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def parse(headers: Iterable[str]) -> Iterator[str]:
    """The texts in the values of `Warning` headers; each header may hold several."""
    for header in headers:
        for code, _agent, quoted in _WARNING.findall(header):
            if code == _KUBERNETES:
                yield re.sub(r"\\(.)", r"\1", quoted)
