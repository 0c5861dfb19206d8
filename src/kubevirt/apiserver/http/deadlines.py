"""How long a write may take, those who are asked about it included."""

import math
import re
from collections.abc import Mapping
from typing import Final

from kubevirt.apiserver.refusals import bad_request
from kubevirt.apiserver.schema import gotext

WRITE_S: Final = 34.0
"""Of a write at most, as in Kubernetes: more than a webhook may take, so that its name can be told."""
_WRITES: Final = ("create", "update", "patch", "delete")
_PIECE: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")
_UNITS: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def wanted(query: Mapping[str, str]) -> float | None:
    """How long the client would wait; None if it does not say."""
    return _seconds(query["timeout"]) or None if query.get("timeout") else None


def deadline(verb: str, query: Mapping[str, str], now: float) -> float:
    """In the same time as `now`. The client may want less with `timeout=5s`."""
    if verb not in _WRITES:
        return math.inf
    return now + min(wanted(query) or WRITE_S, WRITE_S)


def _seconds(text: str) -> float:
    """A duration, as Go writes it."""
    if text == "0":
        return 0.0
    pieces = _PIECE.findall(text)
    if not pieces or "".join(number + unit for number, unit in pieces) != text:
        words = f"time: invalid duration {gotext.quoted(text)}"
        raise bad_request(f"invalid timeout specified in the request URL - {words}")
    return sum(float(number) * _UNITS[unit] for number, unit in pieces)
