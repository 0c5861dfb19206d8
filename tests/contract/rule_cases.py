"""Rules in CEL of one schema: mistakes of their authors, and some that only look like it."""

from typing import Any

Object = dict[str, Any]


def _object(**properties: Any) -> Object:
    return {"type": "object", "properties": properties}


_SAW = _object(
    n={"type": "integer"},
    short={"type": "string", "maxLength": 9},
    flag={"type": "boolean"},
    when={"type": "string", "format": "date-time"},
    either={"x-kubernetes-int-or-string": True},
    half={"type": "number"},
    teeth={"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 9}},
    sizes={"type": "object", "maxProperties": 3, "additionalProperties": {"type": "integer"}},
    open={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    deep=_object(n={"type": "integer"}, **{"a-b": {"type": "string", "maxLength": 9}}),
    many={"type": "array", "maxItems": 3, "items": _object(n={"type": "integer"})},
)
MISTAKEN_RULES: list[dict[str, Any]] = [
    *({"rule": rule} for rule in ("self.nope == 'a'", "has(self.nope)", "self.deep.nope == 1")),
    {"rule": "self.sizes.all(k, self.sizes[k] == 1) && self.teeth.exists(x, x == self.zz)"},
    *({"rule": rule} for rule in ("1 + 1", "self.n", "self.short", "self.n == 'a'", "!self.n")),
    {"rule": "self.teeth.exists(x, x == 1)"},
    {"rule": "self.flag ? self.n : self.short"},
    {"rule": "'self.nope' != '' && self.nope.size() == 1"},
    {"rule": "oldSelf.nope == self.short"},
    {"rule": "true &&\nself.nope == 1", "message": "so"},
    {"rule": "true", "messageExpression": "1"},
    {"rule": "true", "messageExpression": "self.n"},
    {"rule": "true", "messageExpression": "self.nope"},
    {"rule": "true", "fieldPath": ".nope"},
    {"rule": "true", "fieldPath": "n"},
    {"rule": "true", "fieldPath": ".deep['a-b"},
    {"rule": "true", "optionalOldSelf": True},
]
RULES_THAT_ARE_FINE = [
    "has(self.n) && self.n > 1.5 && self.half < 2",
    "self.half == double(self.n) || self.deep.a__dash__b == self.short",
    "self.either == 1 || self.either == 'a'",
    "self.when > timestamp('2020-01-01T00:00:00Z')",
    "self.teeth.all(x, x.startsWith('self.nope')) && 'a' in self.sizes",
    "self.many.all(x, x.n == self.n) && self.many.size() < 3",
    "oldSelf.n == self.n && self == oldSelf",
    "!has(self.deep) || !has(self.deep.n) || self.deep.n == self.sizes['a']",
    "self.teeth.map(x, size(x)).sum() == self.n",
]


def ruled(rule: dict[str, Any]) -> Object:
    return {**_SAW, "x-kubernetes-validations": [rule]}
