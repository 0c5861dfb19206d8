"""AdmissionReview, as it comes back: what a webhook says to a question (`reviews.py`).

It comes from outside, so nothing of it is believed before it is read. What cannot be read is told in the
words of Go's decoder, which are what people search for.
"""

import re
from base64 import b64decode
from typing import Any, Final

import msgspec

from kubevirt.api.meta import Status
from kubevirt.apiserver.admission.reviews import KIND, VERSION
from kubevirt.apiserver.schema import gotext
from kubevirt.base.errors import UserError


class BadAnswer(UserError):  # noqa: N818  # it is what the answer is
    """One that nobody can make sense of, in Kubernetes' words."""


class Undecodable(BadAnswer):
    """One that is no AdmissionReview at all."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    is_allowed: bool
    status: Status | None
    patch: bytes | None
    patch_type: str
    warnings: tuple[str, ...]
    annotations: dict[str, str]


class _Response(msgspec.Struct, kw_only=True, rename="camel"):
    uid: str = ""
    allowed: bool = False
    status: dict[str, Any] | None = None
    patch: str | None = None
    patch_type: str | None = None
    audit_annotations: dict[str, str] | None = None
    warnings: tuple[str, ...] | None = None


class _Review(msgspec.Struct, kw_only=True, rename="camel"):
    kind: str | None = ""
    api_version: str | None = ""
    response: _Response | None = None


_decode: Final = msgspec.json.Decoder(_Review).decode


def read_answer(body: bytes, uid: str, *, is_mutating: bool) -> Answer:
    """Raises `BadAnswer`."""
    review = _read(body)
    _check_kind(review.api_version or "", review.kind or "")
    response = review.response
    if response is None:
        raise BadAnswer("webhook response was absent")
    if response.uid != uid:
        words = f"expected response.uid={gotext.quoted(uid)}, got {gotext.quoted(response.uid)}"
        raise BadAnswer(words)
    if not review.kind or not review.api_version:
        raise BadAnswer(
            f"expected webhook response of {VERSION}, Kind={KIND}, got "
            f"{_shown(review.api_version or '')}, Kind={review.kind or ''}"
        )
    return Answer(
        is_allowed=response.allowed,
        status=_status(response.status) if response.status is not None else None,
        patch=_patch(response, is_mutating=is_mutating),
        patch_type=response.patch_type or "",
        warnings=response.warnings or (),
        annotations=response.audit_annotations or {},
    )


def _read(body: bytes) -> _Review:
    try:
        return _decode(body)
    except msgspec.ValidationError as error:
        raise Undecodable(_misfit(error, body)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Undecodable(_no_document(_unreadable(body))) from error


def _check_kind(api_version: str, kind: str) -> None:
    """An answer that says nothing of itself is judged by what it says otherwise."""
    if (api_version, kind) in ((VERSION, KIND), ("", "")) or not (api_version and kind):
        return
    if (api_version, kind) == (f"{VERSION}beta1", KIND):
        words = "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion"
        raise Undecodable(words)
    raise Undecodable(
        f'no kind "{kind}" is registered for version "{api_version}" in scheme '
        '"pkg/runtime/scheme.go:110"'
    )


def _shown(api_version: str) -> str:
    return api_version if "/" in api_version else f"/{api_version}"


def _status(said: dict[str, Any]) -> Status:
    """As lenient as Go: what is null is not there."""
    try:
        return msgspec.convert(_without_nulls(said), Status)
    except (msgspec.ValidationError, RecursionError) as error:
        raise Undecodable(f"json: cannot unmarshal response.status: {error}") from error


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    return value


# Complaints, as Go's decoder has them

_GO_TYPES: Final = {"bool": "bool", "str": "string", "int": "number", "array": "array"}
_MISFIT: Final = re.compile(r"Expected `([^`]*)`, got `(\w+)`(?: - at `\$\.?([^`]*)`)?")


def _misfit(error: msgspec.ValidationError, body: bytes) -> str:
    found = _MISFIT.fullmatch(str(error))
    if found is None:
        return f"json: cannot unmarshal the answer: {error}"
    wanted, got, path = found.groups()
    if not path:
        return _no_document(
            f"json: cannot unmarshal {_kind_of(body)} into Go value of type {_HEAD}"
        )
    wanted, got = wanted.partition(" ")[0], _GO_TYPES.get(got, got)
    type_ = {"str": "string", "object": "v1.Status"}.get(wanted, wanted)
    owner = "AdmissionResponse" if path.startswith("response.") else KIND
    return f"json: cannot unmarshal {got} into Go struct field {owner}.{path} of type {type_}"


_HEAD: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string '
    '"json:\\"kind,omitempty\\"" }'
)
_BEGINNINGS: Final = {b"[": "array", b'"': "string", b"t": "bool", b"f": "bool", b"n": "null"}


def _kind_of(body: bytes) -> str:
    """By how it begins: it need not be whole to be no object."""
    return _BEGINNINGS.get(body.lstrip()[:1], "number")


def _unreadable(body: bytes) -> str:
    """Go takes what is no JSON for YAML, where most texts are strings."""
    if body.lstrip()[:1] in (b"{", b"["):
        return "unexpected end of JSON input"
    return f"json: cannot unmarshal string into Go value of type {_HEAD}"


def _no_document(words: str) -> str:
    return f"couldn't get version/kind; json parse error: {words}"


def _patch(response: _Response, *, is_mutating: bool) -> bytes | None:
    patch, type_ = response.patch, response.patch_type
    if not is_mutating:
        if patch:
            raise BadAnswer("validating webhook may not return response.patch")
        if type_ is not None:
            raise BadAnswer("validating webhook may not return response.patchType")
        return None
    if patch and type_ is None:
        raise BadAnswer("webhook returned response.patch but not response.patchType")
    if not patch and type_ is not None:
        raise BadAnswer("webhook returned response.patchType but not response.patch")
    if not patch or type_ is None:
        return None
    if not type_:
        raise BadAnswer('webhook returned invalid response.patchType of ""')
    try:
        return b64decode(patch, validate=True)
    except ValueError as error:
        place = re.match(r"[A-Za-z0-9+/]*", patch)
        at = place.end() if place else 0
        raise Undecodable(f"illegal base64 data at input byte {at}") from error
