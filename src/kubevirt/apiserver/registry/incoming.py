"""What a client sent, read as an object of the kind that it was sent to."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from kubevirt.api.meta import StatusCause
from kubevirt.apiserver import refusals
from kubevirt.apiserver.kinds import builtin
from kubevirt.apiserver.kinds.kind import Kind, Names
from kubevirt.apiserver.refusals import Refusal, bad_request
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.gostructs import metadata_of, written
from kubevirt.apiserver.registry.options import WriteOptions
from kubevirt.apiserver.registry.shapes import Shape
from kubevirt.apiserver.schema import gotext
from kubevirt.apiserver.schema.decoding import strict_error
from kubevirt.apiserver.schema.field_errors import FieldError, invalid
from kubevirt.apiserver.schema.metadata import Undecodable

Object = dict[str, Any]

SHOWN_BYTES: Final = 30
"""Of a body that cannot be read."""


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """Of a request, decoded."""

    value: Any
    duplicates: Sequence[str] = ()
    """Paths of fields that it says twice."""
    repeated: Sequence[str] = ()
    """The same of YAML, as complaints."""
    text: bytes = b""
    """As it was sent, for complaints."""


def read(
    call: Call,
    shape: Shape,
    body: Body,
    options: WriteOptions,
    *,
    unfit: Callable[[str], Refusal] | None = None,
) -> Object:
    """`unfit` words the refusal of what is no object of the kind."""
    unfit = unfit or partial(_unhandled, call)
    said = _of_kind(call, body)
    try:
        found = shape.read(said)
    except Undecodable as error:
        raise unfit(str(error)) from error
    hear_of_strangers(call, options, body, found.unknown, unfit=unfit)
    return found.object


def hear_of_strangers(
    call: Call,
    options: WriteOptions,
    body: Body,
    unknown: Sequence[str],
    *,
    unfit: Callable[[str], Refusal] | None = None,
) -> None:
    """Fields that are there twice or that nobody knows: a refusal, a warning, or nothing."""
    if options.validation == "Ignore" or not (body.duplicates or body.repeated or unknown):
        return
    if options.validation == "Strict":
        unfit = unfit or partial(_unhandled, call)
        raise unfit(strict_error(body.duplicates, unknown, body.repeated))
    call.warnings += body.repeated
    call.warnings += [f"duplicate field {gotext.quoted(path)}" for path in body.duplicates]
    call.warnings += [f'unknown field "{path}"' for path in unknown]


def _unhandled(call: Call, words: str) -> Refusal:
    kind = call.kind.names.kind
    return unhandled(kind, call.version.name, kind, words)


def unhandled(named: str, version: str, kind: str, words: str) -> Refusal:
    """What was sent, and what was expected."""
    short = version.rpartition("/")[2]
    return bad_request(f'{named} in version "{short}" cannot be handled as a {kind}: {words}')


def no_map(value: Any) -> str:
    """What Go says of a body that is no object at all."""
    struct = (
        'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
        'Kind string "json:\\"kind,omitempty\\"" }'
    )
    words = f"json: cannot unmarshal {gotext.kind_of(value)} into Go value of type {struct}"
    return f"couldn't get version/kind; json parse error: {words}"


def _of_kind(call: Call, body: Body) -> Object:
    """The object, once it is clear that it is one of this kind. A built-in kind need not be named."""
    expected, kind = call.api_version, call.kind.names.kind
    if not call.kind.is_custom:
        return of_kind(body, expected, kind)
    if not isinstance(body.value, dict):
        raise unrecognized(kind, no_map(body.value), body.text)
    _refuse_other_custom(call, body.value, body)
    return {**body.value, "apiVersion": expected, "kind": kind}


def of_kind(body: Body, expected: str, kind: str) -> Object:
    """An object of a built-in kind, in the expected version."""
    value = body.value
    if not isinstance(value, dict):
        raise unrecognized(kind, no_map(value), body.text)
    version, named = value.get("apiVersion") or expected, value.get("kind") or kind
    if not isinstance(version, str) or not isinstance(named, str):
        words = "couldn't get version/kind; json parse error: not a string"
        raise unrecognized(kind, words, body.text)
    if named != kind or (version != expected and (version, named) not in _OLD):
        raise _other_kind(version, named, expected, kind)
    return {**value, "apiVersion": expected, "kind": kind}


def read_below(body: Body, api_version: str, kind: str) -> Object:
    """What was sent to an endpoint below an object, which takes a kind of its own: read as Go does."""
    said = of_kind(body, api_version, kind)
    try:
        return as_struct(said, api_version, kind)
    except Undecodable as error:
        raise unhandled(kind, api_version, kind, str(error)) from error


def as_struct(said: Object, api_version: str, kind: str) -> Object:
    """Raises `Undecodable`."""
    meta, _ = metadata_of(said, kind)
    return written({**said, "metadata": meta}, builtin.type_name(api_version, kind))


_APART: Final = {"apiextensions.k8s.io", "apiregistration.k8s.io"}
"""Groups of servers beside Kubernetes' own, which know no kinds but theirs."""
_CORE: Final = {"", "events.k8s.io"}
_OLD: Final = (("policy/v1beta1", "Eviction"),)
"""Kinds that are taken under a name from before."""


def _other_kind(version: str, named: str, expected: str, kind: str) -> Refusal:
    group = expected.rpartition("/")[0]
    words = unregistered(version, named)
    if group not in _APART and builtin.type_name(version, named):
        package = "core" if group in _CORE else group.partition(".")[0]
        words = f"converting (v1.{named}) to ({package}.{kind}): unknown conversion"
    return unhandled(named, version, kind, words)


def unregistered(version: str, kind: str) -> str:
    words = f'no kind "{kind}" is registered for version "{version}" in scheme'
    return f'{words} "pkg/runtime/scheme.go:110"'


def _refuse_other_custom(call: Call, value: Object, body: Body) -> None:
    expected, kind = call.api_version, call.kind.names.kind
    version, named = value.get("apiVersion"), value.get("kind")
    text = body.text.decode(errors="replace") or gotext.json(value)
    for word, label in ((named, "Kind"), (version, "apiVersion")):
        if not word:
            words = f"Object '{label}' is missing in '{text}'"
            raise unrecognized(kind, words, body.text)
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


def unrecognized(kind: str, words: str, text: bytes) -> Refusal:
    words = f"{words} ({_summary(text)})"
    return bad_request(f"the object provided is unrecognized (must be of type {kind}): {words}")


def _summary(text: bytes) -> str:
    """The beginning of a body, readable where it looks like JSON."""
    beginning = text[:SHOWN_BYTES]
    shown = beginning.decode(errors="replace") if text.startswith(b"{") else beginning.hex()
    return (shown or "<empty>") + (" ..." if len(text) > SHOWN_BYTES else "")


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
