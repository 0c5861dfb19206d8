"""ConfigMaps and Secrets: keys that can be file names, sizes, and what cannot change."""

import re
from base64 import b64encode
from typing import Any, Final

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
_KEY: Final = re.compile(r"[-._a-zA-Z0-9]+")
_KEY_WORDS: Final = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
    " (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is"
    " '[-._a-zA-Z0-9]+')"
)
_OF_TYPE: Final = {
    "kubernetes.io/service-account-token": (),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}


def _wrong_key(field: str, key: str) -> list[FieldError]:
    wrong = []
    if len(key.encode()) > 253:
        wrong.append("must be no more than 253 bytes")
    if not _KEY.fullmatch(key):
        wrong.append(_KEY_WORDS)
    elif key == ".":
        wrong.append("must not be '.'")
    elif key.startswith(".."):
        wrong.append("must not be '..'" if key == ".." else "must not start with '..'")
    return [invalid(f"{field}[{key}]", key, words) for words in wrong]


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
            found.append(too_long("", SIZE_LIMIT))
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
        missing = [key for key in _OF_TYPE.get(object_.get("type", ""), ()) if key not in data]
        return found + [required(f"data[{key}]") for key in missing]

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        found = []
        if new.get("type") != old.get("type"):
            found.append(invalid("type", new.get("type"), "field is immutable"))
        return found + _frozen_changes(new, old, ("data",)) + self.errors(new)


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
