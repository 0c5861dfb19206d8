"""Bodies of requests: bytes to plain data as Kubernetes reads them, and what is said twice in them.

Numbers become what Go makes of them: whole ones are integers, however they are written, unless they
do not fit in 64 bits. Of fields that are there twice the last one counts, as in Go; strict decoding
names them.
"""

import json
import re
from collections.abc import Iterable
from math import isinf
from typing import Any, Final

import msgspec

from kubevirt.apiserver.schema import gotext

DUPLICATES_SHOWN: Final = 100
DEPTH_LIMIT: Final = 128
"""How deeply a body may be nested. Go takes 10,000; the deepest that people write, CRDs, have about forty,
and each step down costs several calls here."""

_INT64: Final = range(-(2**63), 2**63)


def _number(text: str) -> float:
    value = float(text)
    if isinf(value):
        # Written again it would be null.
        raise msgspec.DecodeError(
            f"json: cannot unmarshal number {text} into Go value of type float64"
        )
    return int(value) if value.is_integer() and int(value) in _INT64 else value


_decoder: Final = msgspec.json.Decoder(float_hook=_number)


class TooDeep(msgspec.DecodeError):
    pass


def decode(body: bytes) -> Any:
    """Raises `msgspec.DecodeError`."""
    try:
        value = _decoder.decode(body)
    except RecursionError as error:
        raise TooDeep from error
    except UnicodeDecodeError:
        # Go takes what is no UTF-8 for a question mark, and goes on.
        value = _decoder.decode(body.decode(errors="replace").encode())
    if body.count(b"{") + body.count(b"[") > DEPTH_LIMIT and is_deep(value):
        raise TooDeep
    return value


def is_deep(value: Any, limit: int = DEPTH_LIMIT) -> bool:
    """Level by level: this cannot be too deep itself."""
    level = [value] if value.__class__ is dict or value.__class__ is list else []
    for _ in range(limit):
        level = [
            child
            for each in level
            for child in (each.values() if each.__class__ is dict else each)
            if child.__class__ is dict or child.__class__ is list
        ]
        if not level:
            return False
    return True


def duplicate_fields(body: bytes, decoded: Any) -> list[str]:
    """Paths of fields that occur again in their object, each once: for `duplicate field "…"`.

    `decoded` is what `decode` made of the body. It has lost the duplicates, so a body that names more
    fields than it is looked at again, slowly; so is one that only seems to, by text inside a string.
    """
    if _names(body) <= _count(decoded):
        return []
    found: dict[str, None] = {}
    _collect(_all_pairs.decode(body.decode()), "", found)
    return list(found)[:DUPLICATES_SHOWN]


def strict_error(twice: Iterable[str], unknown: Iterable[str], repeated: Iterable[str] = ()) -> str:
    """What strict decoding says of such fields; empty if there are none. A warning says each alone.
    `repeated` is what was said of keys in YAML.
    """
    lines = list(repeated)
    words = [repeated_error(lines)] if lines else []
    words += [f"duplicate field {gotext.quoted(path)}" for path in twice]
    words += [f'unknown field "{path}"' for path in unknown]
    return "strict decoding error: " + ", ".join(words) if words else ""


def repeated_error(lines: Iterable[str]) -> str:
    return "yaml: unmarshal errors:" + "".join(f"\n  {line}" for line in lines)


_NAMES: Final = re.compile(rb'"\s*:')
_BLANKS: Final = (b'" ', b'"\n', b'"\r', b'"\t')


def _names(body: bytes) -> int:
    """How many fields the text names: at least that many, and mostly not more."""
    if any(each in body for each in _BLANKS):
        return len(_NAMES.findall(body))
    inside_strings = 0 if b"\\\\" in body else body.count(b'\\":')
    return body.count(b'":') - inside_strings


def _count(value: Any) -> int:
    """Fields in all objects."""
    if value.__class__ is dict:
        count = len(value)
        for child in value.values():
            if child.__class__ is dict or child.__class__ is list:
                count += _count(child)
        return count
    if value.__class__ is list:
        return sum([_count(item) for item in value if item.__class__ is not str])
    return 0


class _Pairs(list[tuple[str, Any]]):
    """An object with everything that was said."""


_all_pairs: Final = json.JSONDecoder(object_pairs_hook=_Pairs)


def _collect(value: Any, path: str, found: dict[str, None]) -> None:
    if isinstance(value, _Pairs):
        seen = set()
        for name, child in value:
            below = f"{path}.{name}" if path else name
            if name in seen:
                found[below] = None
            seen.add(name)
            _collect(child, below, found)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _collect(item, f"{path}[{index}]", found)
