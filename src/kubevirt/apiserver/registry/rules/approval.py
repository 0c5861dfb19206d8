"""Groups that belong to the Kubernetes community: a CRD of one says who approved it, or that nobody did."""

from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema.field_errors import FieldError, invalid, required

ANNOTATION: Final = "api-approved.kubernetes.io"
_AT: Final = f"metadata.annotations[{ANNOTATION}]"
_OWNERS: Final = ("k8s.io", "kubernetes.io")
_SEE: Final = "see https://github.com/kubernetes/enhancements/pull/1111"
_NEEDED: Final = f'protected groups must have approval annotation "{ANNOTATION}"'


class _State(StrEnum):
    APPROVED = "approved"
    BYPASSED = "bypassed"
    INVALID = "invalid"
    MISSING = "missing"


def errors(new: Object, old: Object | None = None) -> list[FieldError]:
    """Who changes nothing about it is not asked again."""
    if not _is_protected(new["spec"].get("group", "")):
        return []
    state = _state(new)
    if old is not None and _state(old) is state:
        return []
    if state is _State.MISSING:
        return [required(_AT, f"{_NEEDED}, {_SEE}")]
    if state is _State.INVALID:
        either = 'with either a URL or a reason starting with "unapproved"'
        return [invalid(_AT, _said(new), f"{_NEEDED} {either}, {_SEE}")]
    return []


def _is_protected(group: str) -> bool:
    return any(group == owner or group.endswith(f".{owner}") for owner in _OWNERS)


def _said(object_: Object) -> str:
    found: str = (object_["metadata"].get("annotations") or {}).get(ANNOTATION, "")
    return found


def _state(object_: Object) -> _State:
    said = _said(object_)
    if not said:
        return _State.MISSING
    if said.startswith("unapproved"):
        return _State.BYPASSED
    try:
        parts = urlsplit(said)
    except ValueError:
        return _State.INVALID
    return _State.APPROVED if parts.scheme and parts.netloc else _State.INVALID
