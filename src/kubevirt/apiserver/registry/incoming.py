"""What a client sent, read as an object of the kind that it was sent to."""

from collections.abc import Sequence
from typing import Any

import msgspec

from kubevirt.api.meta import StatusCause
from kubevirt.apiserver import refusals
from kubevirt.apiserver.kinds.kind import Kind, Names
from kubevirt.apiserver.refusals import Refusal, bad_request
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.options import WriteOptions
from kubevirt.apiserver.registry.shapes import Shape
from kubevirt.apiserver.schema import gotext
from kubevirt.apiserver.schema.decoding import strict_error
from kubevirt.apiserver.schema.field_errors import FieldError, invalid
from kubevirt.apiserver.schema.metadata import Undecodable

Object = dict[str, Any]


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """Of a request, decoded."""

    value: Any
    duplicates: Sequence[str] = ()
    """Paths of fields that it says twice."""
    text: bytes = b""
    """As it was sent, for complaints."""


def read(call: Call, shape: Shape, body: Body, options: WriteOptions) -> Object:
    said = _of_kind(call, body)
    try:
        found = shape.read(said)
    except Undecodable as error:
        raise _unhandled(call, str(error)) from error
    hear_of_strangers(call, options, body.duplicates, found.unknown)
    return found.object


def hear_of_strangers(
    call: Call, options: WriteOptions, duplicates: Sequence[str], unknown: Sequence[str]
) -> None:
    """Fields that are there twice or that nobody knows: a refusal, a warning, or nothing."""
    if options.validation == "Ignore" or not (duplicates or unknown):
        return
    if options.validation == "Strict":
        raise _unhandled(call, strict_error(duplicates, unknown))
    call.warnings += [f"duplicate field {gotext.quoted(path)}" for path in duplicates]
    call.warnings += [f'unknown field "{path}"' for path in unknown]


def _unhandled(call: Call, words: str) -> Refusal:
    kind = call.kind.names.kind
    version = call.version.name
    return bad_request(f'{kind} in version "{version}" cannot be handled as a {kind}: {words}')


def _of_kind(call: Call, body: Body) -> Object:
    """The object, once it is clear that it is one of this kind. A built-in kind need not be named."""
    value = body.value
    expected, kind = call.api_version, call.kind.names.kind
    if not isinstance(value, dict):
        struct = (
            'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
            'Kind string "json:\\"kind,omitempty\\"" }'
        )
        has = gotext.kind_of(value)
        words = f"json: cannot unmarshal {has} into Go value of type {struct}"
        shown = f"({body.text[:256].hex()})"
        raise unrecognized(kind, f"couldn't get version/kind; json parse error: {words} {shown}")
    version, named = value.get("apiVersion") or "", value.get("kind") or ""
    if call.kind.is_custom:
        _refuse_other_custom(call, value, body)
    elif not isinstance(version, str) or not isinstance(named, str):
        raise unrecognized(kind, "couldn't get version/kind; json parse error: not a string")
    elif (version or expected, named or kind) != (expected, kind):
        raise _other_kind(call, version or expected, named or kind)
    return {**value, "apiVersion": expected, "kind": kind}


def _other_kind(call: Call, version: str, named: str) -> Refusal:
    kind = call.kind.names.kind
    short = version.rpartition("/")[2]
    words = f'no kind "{named}" is registered for version "{version}" in scheme'
    words = f'{words} "pkg/runtime/scheme.go:110"'
    return bad_request(f'{named} in version "{short}" cannot be handled as a {kind}: {words}')


def _refuse_other_custom(call: Call, value: Object, body: Body) -> None:
    expected, kind = call.api_version, call.kind.names.kind
    version, named = value.get("apiVersion"), value.get("kind")
    text = body.text.decode(errors="replace") or gotext.json(value)
    for word, label in ((named, "Kind"), (version, "apiVersion")):
        if not word:
            words = f"Object '{label}' is missing in '{text}'"
            raise unrecognized(kind, f"{words} ({text[:1024]})")
    if version != expected:
        raise bad_request(
            f"the API version in the data ({version}) does not match the expected API version "
            f"({expected})"
        )
    if named != kind:
        name = (value.get("metadata") or {}).get("name", "")
        wrong = invalid("kind", named, f"must be {kind}")
        names = Names(plural=str(named), singular="", kind=str(named), list_kind="")
        other = Kind(group=call.kind.group, names=names, namespaced=True, versions=())
        raise refusals.invalid(other, name, [cause(wrong)])


def unrecognized(kind: str, words: str) -> Refusal:
    return bad_request(f"the object provided is unrecognized (must be of type {kind}): {words}")


def cause(error: FieldError) -> StatusCause:
    return StatusCause(reason=str(error.reason), message=error.message, field=error.field)


# Whose object it is


def stand_in_namespace(call: Call, object_: Object) -> Object:
    """With the namespace of the request, which it may repeat but not contradict."""
    metadata = object_.get("metadata", {})
    said = metadata.get("namespace", "")
    if not call.kind.namespaced:
        if said:
            kept = {name: value for name, value in metadata.items() if name != "namespace"}
            return {**object_, "metadata": kept}
        return object_
    if said and said != call.namespace:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    return {**object_, "metadata": {**metadata, "namespace": call.namespace}}


def check_name(call: Call, object_: Object) -> None:
    """Of a write to a name."""
    name = object_.get("metadata", {}).get("name", "")
    if not name:
        raise bad_request(
            f"the name of the object ({call.name} based on URL) was undeterminable: "
            "name must be provided"
        )
    if name != call.name:
        raise bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({call.name})"
        )
