"""What a patch makes of an object of a built-in kind, and cannot be read as one.

Kubernetes blames the patch then, not the object: `patch: Invalid value: "…"`. It shows a strategic patch
as Go prints it, and of the others what they made.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from kubevirt.api.meta import StatusCause, StatusDetails
from kubevirt.apiserver.refusals import Refusal, refusal
from kubevirt.apiserver.schema import gotext

_MISMATCH: Final = re.compile(r"json: cannot unmarshal (?P<has>\w+) .*of type (?P<wanted>\S+)$")
_GO: Final = {"array": "slice", "object": "map", "number": "int64"}


def of_strategic_patch(patch: Any) -> Callable[[str], Refusal]:
    return lambda words: _invalid(gotext.shown(patch), _restored(words))


def of_result(made: Any) -> Callable[[str], Refusal]:
    return lambda words: _invalid(gotext.json(made), words)


def _restored(words: str) -> str:
    """A wrong type, in the words of the decoder that a strategic patch goes through."""
    found = _MISMATCH.match(words)
    if found is None:
        return words
    has, wanted = _GO.get(found["has"], found["has"]), found["wanted"]
    if wanted.startswith("map"):
        return f"cannot restore map from {has}"
    if wanted in ("slice", "bool"):
        return (
            f"cannot restore slice from {has}" if wanted == "slice" else "unrecognized type: bool"
        )
    if wanted.startswith("v1."):
        return f"cannot restore struct from: {has}"
    return f"cannot convert {has} to {wanted}"


def _invalid(value: str, words: str) -> Refusal:
    message = f"Invalid value: {gotext.quoted(value)}: {words}"
    cause = StatusCause(reason="FieldValueInvalid", message=message, field="patch")
    details = StatusDetails(causes=(cause,))
    return refusal(422, "Invalid", f' "" is invalid: patch: {message}', details=details)
