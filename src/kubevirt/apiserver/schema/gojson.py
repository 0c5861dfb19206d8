"""What Go's JSON decoder says of a text that is no JSON.

Only asked once a text was refused. Python's own decoder finds the place; what is expected there is said as Go does.
"""

import json
import re
from typing import Any, Final

from kubevirt.apiserver.schema import gotext

END: Final = "unexpected end of JSON input"
_LITERALS: Final = ("true", "false", "null")
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_BLANKS: Final = " \t\r\n"


def _refuse(text: str) -> Any:
    raise ValueError(text)


_decoder: Final = json.JSONDecoder(parse_constant=_refuse)


def complaint(text: bytes) -> str:
    """Each byte is a character, for Go looks at bytes."""
    characters = text.decode("latin-1")
    try:
        _decoder.decode(characters)
    except json.JSONDecodeError as error:
        return _said(characters, error.msg, error.pos)
    except (ValueError, RecursionError):  # NaN, Infinity
        place = re.search(r"-?Infinity|NaN", characters)
        return _unexpected(characters, place.start() if place else 0, _VALUE)
    return END


_VALUE: Final = "looking for beginning of value"
_KEY: Final = "looking for beginning of object key string"


def too_deep(text: bytes, limit: int) -> str:
    """The bracket that was one too many."""
    depth = 0
    for found in re.finditer(r"[\[{\]}]", _STRING.sub('""', text.decode("latin-1"))):
        depth += 1 if found[0] in "[{" else -1
        if depth > limit:
            return f"invalid character {_quoted(found[0])} exceeded max depth"
    return "exceeded max depth"


def _said(text: str, problem: str, at: int) -> str:
    if problem.startswith("Unterminated string"):
        return END
    if problem.startswith("Invalid control character"):
        return _unexpected(text, at, "in string literal")
    if problem.startswith("Invalid \\u"):
        return _unexpected(text, at, "in \\u hexadecimal character escape")
    if problem.startswith("Invalid \\"):
        return _unexpected(text, at + 1, "in string escape code")
    if problem.startswith(("Expecting property name", "Illegal trailing comma before end of obj")):
        return _unexpected(text, _next(text, at, skip=","), _KEY)
    if problem.startswith("Illegal trailing comma"):
        return _unexpected(text, _next(text, at, skip=","), _VALUE)
    if problem.startswith("Expecting ':'"):
        return _unexpected(text, at, "after object key")
    if problem.startswith("Expecting ','"):
        inside = "array element" if _is_in_array(text[:at]) else "object key:value pair"
        return _unexpected(text, at, f"after {inside}")
    if problem.startswith("Extra data"):
        return _unexpected(text, at, "after top-level value")
    return _in_literal(text, at) or _unexpected(text, at, _VALUE)


def _next(text: str, at: int, skip: str) -> int:
    while at < len(text) and text[at] in _BLANKS + skip:
        at += 1
    return at


def _unexpected(text: str, at: int, where: str) -> str:
    at = _next(text, at, "") if where != "in string literal" else at
    return f"invalid character {_quoted(text[at])} {where}" if at < len(text) else END


def _in_literal(text: str, at: int) -> str:
    for literal in _LITERALS:
        if at < len(text) and text[at] == literal[0]:
            for place, expected in enumerate(literal):
                if at + place >= len(text):
                    return END
                if text[at + place] != expected:
                    words = f"in literal {literal} (expecting '{expected}')"
                    return f"invalid character {_quoted(text[at + place])} {words}"
    return ""


def _is_in_array(before: str) -> bool:
    depth = 0
    for bracket in reversed(re.findall(r"[\[{\]}]", _STRING.sub("", before))):
        depth += 1 if bracket in "]}" else -1
        if depth < 0:
            return bool(bracket == "[")
    return False


def _quoted(character: str) -> str:
    if character == "'":
        return "'\\''"
    return f"""'{'"' if character == '"' else gotext.quoted(character)[1:-1]}'"""
