"""Objects as bytes: how they lie in the store, and how they go out without being decoded.

In the store an object is JSON that begins with apiVersion, kind and metadata, in this order, and has no
resourceVersion: that is the revision at which it lies there. So the beginning can be exchanged for
another one, with the version that the client asked for and the resourceVersion in it, and the rest goes
out as it is. No quote stands unescaped inside a string, so the mark below is found where it should be.
"""

from typing import Any, Final

import msgspec

from kubevirt.apiserver.kinds.kind import Kind, Version
from kubevirt.apiserver.registry import event_names
from kubevirt.apiserver.storage.records import Entry

Object = dict[str, Any]

_MARK: Final = b'"metadata":{'
_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder().decode


class _OnlyMetadata(msgspec.Struct):
    metadata: msgspec.Raw


_only_metadata: Final = msgspec.json.Decoder(_OnlyMetadata)


def encoded(object_: Object) -> bytes:
    """For the store."""
    if object_["apiVersion"] == event_names.NEWER:
        object_ = event_names.as_older(object_)
    metadata = {
        name: value for name, value in object_["metadata"].items() if name != "resourceVersion"
    }
    first = {"apiVersion": object_["apiVersion"], "kind": object_["kind"], "metadata": metadata}
    rest = {name: value for name, value in object_.items() if name not in first}
    return _encode({**first, **rest})


def decoded(value: bytes, revision: int, api_version: str) -> Object:
    """From the store, in the version that is asked for. Conversion changes nothing but its name, and
    those of fields of events.
    """
    object_: Object = _decode(value)
    if api_version == event_names.NEWER:
        object_ = event_names.as_newer(object_)
    object_["apiVersion"] = api_version
    if revision:
        object_["metadata"]["resourceVersion"] = str(revision)
    return object_


def object_of(entry: Entry, api_version: str) -> Object:
    return decoded(entry.value, entry.revision, api_version)


def head(kind: Kind, version: Version, *, is_named: bool = True) -> bytes:
    """The beginning of an object on the wire, up to its metadata. Items in lists of built-in kinds do
    not say what they are.
    """
    if not is_named:
        return b'{"metadata":{'
    api_version = f"{kind.group}/{version.name}" if kind.group else version.name
    named = _encode({"apiVersion": api_version, "kind": kind.names.kind})
    return named[:-1] + b',"metadata":{'


def as_shown(value: bytes, api_version: str) -> bytes:
    """What `shown` may begin with, for the one kind that does not go out as it lies there."""
    if api_version != event_names.NEWER:
        return value
    event = event_names.as_newer(_decode(value))
    first = {name: event[name] for name in ("apiVersion", "kind", "metadata")}
    return _encode({**first, **event})


def shown(value: bytes, revision: int, beginning: bytes) -> bytes:
    """On the wire."""
    rest = value[value.index(_MARK) + len(_MARK) :]
    if not revision:
        return beginning + rest
    return b'%b"resourceVersion":"%d",%b' % (beginning, revision, rest)


PARTIAL_HEAD: Final = b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{'


def metadata_shown(value: bytes, revision: int) -> bytes:
    """Only the metadata, as a PartialObjectMetadata."""
    raw = bytes(_only_metadata.decode(value).metadata)
    return shown(_MARK + raw[1:], revision, PARTIAL_HEAD) + b"}"
