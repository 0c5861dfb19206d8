"""ConfigMaps and Secrets: keys that can be file names, sizes, and what cannot change."""

from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from kubevirt.apiserver.registry.rules import checks
from kubevirt.apiserver.registry.rules.rules import Object, Rules
from kubevirt.apiserver.schema.field_errors import (
    FieldError,
    forbidden,
    invalid,
    required,
    too_long,
)
from kubevirt.apiserver.schema.plain import is_same

SIZE_LIMIT: Final = 1 << 20
_ACCOUNT: Final = "kubernetes.io/service-account-token"
_ACCOUNT_NAME: Final = "kubernetes.io/service-account.name"
_PASSWORDS: Final = "kubernetes.io/basic-auth"  # a type, not one
_SSH: Final = "kubernetes.io/ssh-auth"
_REGISTRIES: Final = ("kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson")
_OF_TYPE: Final = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    _SSH: ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}


def _wrong_key(field: str, key: str) -> list[FieldError]:
    return list(checks.named(f"{field}[{key}]", key, checks.config_key))


def _size(values: dict[str, Any]) -> int:
    return sum(len(str(value).encode()) for value in values.values())


def _frozen_changes(new: Object, old: Object, fields: tuple[str, ...]) -> list[FieldError]:
    if not old.get("immutable"):
        return []
    words = "field is immutable when `immutable` is set"
    found = [] if new.get("immutable") else [forbidden("immutable", words)]
    changed = [name for name in fields if not is_same(new.get(name) or {}, old.get(name) or {})]
    return found + [forbidden(name, words) for name in changed]


class ConfigMapRules(Rules):
    def errors(self, object_: Object) -> list[FieldError]:
        data, binary = object_.get("data") or {}, object_.get("binaryData") or {}
        found = []
        for key in sorted(data):
            found += _wrong_key("data", key)
            if key in binary:
                words = "duplicate of key present in binaryData"
                found.append(invalid(f"data[{key}]", key, words))
        for key in sorted(binary):
            found += _wrong_key("binaryData", key)
        if _size(data) + _size(binary) * 3 // 4 > SIZE_LIMIT:
            found.append(too_long("[]", SIZE_LIMIT))
        return found

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        return _frozen_changes(new, old, ("data", "binaryData")) + self.errors(new)


class SecretRules(Rules):
    def prepared(self, object_: Object) -> Object:
        return _merged({"type": "Opaque", **object_})

    def changed(self, new: Object, old: Object) -> Object:
        return _merged({"type": old.get("type", "Opaque"), **new})

    def errors(self, object_: Object) -> list[FieldError]:
        data = object_.get("data") or {}
        found = [each for key in sorted(data) for each in _wrong_key("data", key)]
        if _size(data) * 3 // 4 > SIZE_LIMIT:
            found.append(too_long("data", SIZE_LIMIT))
        return found + list(_of_type(object_, data))

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        found = []
        if new.get("type") != old.get("type"):
            found.append(invalid("type", new.get("type"), "field is immutable"))
        return found + _frozen_changes(new, old, ("data",)) + self.errors(new)


def _of_type(secret: Object, data: Object) -> Iterator[FieldError]:
    kind = secret.get("type", "")
    for key in _OF_TYPE.get(kind, ()):
        if key not in data or (kind == _SSH and not data[key]):
            yield required(f"data[{key}]")
        elif kind in _REGISTRIES:
            yield from _json(f"data[{key}]", data[key])
    if kind == _ACCOUNT and not (secret["metadata"].get("annotations") or {}).get(_ACCOUNT_NAME):
        yield required(f"metadata.annotations[{_ACCOUNT_NAME}]")
    if kind == _PASSWORDS and not data.keys() & {"username", "password"}:
        yield required("data[username]")
        yield required("data[password]")


def _json(field: str, value: str) -> Iterator[FieldError]:
    text = b64decode(value)
    try:
        is_object = isinstance(msgspec.json.decode(text), dict)
        words = "" if is_object else "json: cannot unmarshal into Go value of type map"
    except (msgspec.DecodeError, UnicodeDecodeError):
        shown = text.decode(errors="replace").lstrip()[:1]
        words = f"invalid character '{shown}' looking for beginning of value"
        words = words if shown else "unexpected end of JSON input"
    if words:
        yield invalid(field, "<secret contents redacted>", words)


def _merged(secret: Object) -> Object:
    """`stringData` is for writing only: it becomes data."""
    texts = secret.get("stringData")
    if not texts:
        return secret
    data = {**(secret.get("data") or {}), **{k: _base64(v) for k, v in texts.items()}}
    kept = {name: value for name, value in secret.items() if name != "stringData"}
    return {**kept, "data": data}


def _base64(text: str) -> str:
    return b64encode(text.encode()).decode()
