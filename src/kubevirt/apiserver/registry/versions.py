"""The version that a write says it was made for: the `resourceVersion` that a client sent."""

import re
from typing import Any, Final

from kubevirt.api.meta import StatusCause, StatusDetails
from kubevirt.apiserver import refusals
from kubevirt.apiserver.refusals import Refusal, refusal
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.schema import gotext

Object = dict[str, Any]

_MOST: Final = 2**64 - 1


class _NoNumberError(ValueError):
    pass


def said_by(object_: Object) -> int:
    """0 is none. For what is no number Kubernetes blames itself."""
    try:
        return _read(object_)
    except _NoNumberError as error:
        raise refusal(500, "", str(error)) from error


def check(call: Call, said: Object, old: Object) -> None:
    """That it was made for what there is, if it says so. Of custom resources nobody may say 0."""
    if "resourceVersion" not in said["metadata"]:
        return
    version = said_by(said)
    if not version and call.kind.is_custom:
        raise missing(call)
    if version and version != int(old["metadata"]["resourceVersion"]):
        raise refusals.modified(call.kind, call.name)


def missing(call: Call) -> Refusal:
    """Said about the resource, not about the kind, unlike everything else that is invalid."""
    words = "Invalid value: 0: must be specified for an update"
    cause = StatusCause(reason="FieldValueInvalid", message=words, field="metadata.resourceVersion")
    details = StatusDetails(
        name=call.name, group=call.kind.group, kind=call.kind.names.plural, causes=(cause,)
    )
    subject = f'{call.kind.group_resource} "{call.name}"'
    message = f"{subject} is invalid: metadata.resourceVersion: {words}"
    return refusal(422, "Invalid", message, details=details)


def of_new(object_: Object) -> bool:
    """Whether what is yet to be created has one. What is no number is none there."""
    try:
        return bool(_read(object_))
    except _NoNumberError:
        return False


def _read(object_: Object) -> int:
    metadata = object_.get("metadata")
    text = (metadata.get("resourceVersion") if isinstance(metadata, dict) else None) or "0"
    if not isinstance(text, str) or not re.fullmatch(r"\d+", text, re.ASCII):
        raise _NoNumberError(f"strconv.ParseUint: parsing {gotext.quoted(text)}: invalid syntax")
    if len(text) > 20 or int(text) > _MOST:
        raise _NoNumberError(
            f"strconv.ParseUint: parsing {gotext.quoted(text)}: value out of range"
        )
    return int(text)
