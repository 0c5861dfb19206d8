"""Gauges: a custom resource with every condition that a schema can state."""

from typing import Any

GROUP = "gauge.example"
API_VERSION = f"{GROUP}/v1"

_NAMED = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}

SPEC: dict[str, Any] = {
    "type": "object",
    "required": ["unit"],
    "properties": {
        "unit": {"type": "string"},
        "whole": {"type": "integer", "minimum": 1, "maximum": 10},
        "above": {"type": "integer", "minimum": 1, "exclusiveMinimum": True, "multipleOf": 3},
        "below": {"type": "number", "maximum": 1.5, "exclusiveMaximum": True, "multipleOf": 0.5},
        "tiny": {"type": "number", "minimum": 0.00001},
        "short": {"type": "string", "minLength": 2, "maxLength": 4},
        "code": {"type": "string", "pattern": "^[a-z]+-\\d+$"},
        "colour": {"type": "string", "enum": ["red", "green"]},
        "level": {"type": "integer", "enum": [1, 2]},
        "flag": {"type": "boolean"},
        "either": {"x-kubernetes-int-or-string": True},
        "percent": {
            "x-kubernetes-int-or-string": True,
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "pattern": "^\\d+%$",
        },
        "maybe": {"type": "string", "nullable": True, "enum": ["a"]},
        "few": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}},
        "pairs": {
            "type": "object",
            "maxProperties": 2,
            "additionalProperties": {"type": "integer"},
        },
        "some": {
            "type": "object",
            "minProperties": 1,
            "x-kubernetes-preserve-unknown-fields": True,
        },
        "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "numbers": {"type": "array", "items": {"type": "number"}, "x-kubernetes-list-type": "set"},
        "named": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string"},
                    "size": {"type": "integer", "minimum": 1},
                    "tags": {
                        "type": "array",
                        "items": {"type": "string"},
                        "x-kubernetes-list-type": "set",
                    },
                },
            },
        },
        "ports": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port", "protocol"],
            "items": {
                "type": "object",
                "required": ["port", "protocol"],
                "properties": {"port": {"type": "integer"}, "protocol": {"type": "string"}},
            },
        },
        "sets": {
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "items": {"type": "string"},
                "x-kubernetes-list-type": "set",
            },
        },
        "one": {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        "any": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "anyOf": [
                {"required": ["a"], "properties": {"a": {"minimum": 5}}},
                {"required": ["b"], "properties": {"b": {"maximum": 5}}},
            ],
        },
        "all": {
            "type": "string",
            "allOf": [{"minLength": 3}, {"pattern": "^a"}],
            "not": {"enum": ["abc"]},
        },
        "guest": {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
        **{
            name.replace("-", ""): {"type": "string", "format": name}
            for name in (
                *("date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "cidr"),
                *("mac", "uri", "uuid", "uuid4", "byte", "hexcolor", "rgbcolor", "ssn", "isbn"),
                *("creditcard", "bsonobjectid", "k8s-short-name", "k8s-long-name", "unheard-of"),
            )
        },
    },
}

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": SPEC,
        "status": {
            "type": "object",
            "required": ["phase"],
            "properties": {
                "phase": {"type": "string", "enum": ["On", "Off"]},
                "named": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": _NAMED,
                },
            },
        },
    },
}

RULES: dict[str, Any] = {
    "type": "object",
    "x-kubernetes-validations": [
        {"rule": "self.metadata.name.startsWith('rule')"},
        {"rule": "has(self.spec)", "message": "a spec is needed", "fieldPath": ".spec"},
    ],
    "properties": {
        "spec": {
            "type": "object",
            "x-kubernetes-validations": [
                {"rule": "!has(self.low) || !has(self.high) || self.low <= self.high"},
                {
                    "rule": "!has(self.low) || self.low >= 0",
                    "messageExpression": "self.low < -5 ? 'far too low' : 'too low'",
                    "reason": "FieldValueForbidden",
                    "fieldPath": ".low",
                },
                {
                    "rule": "!has(self.low) || self.low != 13",
                    "messageExpression": "self.names[100]",
                    "message": "unlucky",
                    "reason": "FieldValueRequired",
                },
                {"rule": "!has(self.low) || self.low != 14", "reason": "FieldValueDuplicate"},
                {"rule": "!has(oldSelf.high) || has(self.high)", "message": "high stays"},
                {
                    "rule": "oldSelf.hasValue() || !has(self.high) || self.high < 1000",
                    "optionalOldSelf": True,
                    "message": "start small",
                },
                {"rule": "!has(self.a__dash__b) || self.a__dash__b != 'bad'", "message": "dashed"},
            ],
            "properties": {
                "low": {"type": "integer"},
                "high": {"type": "integer"},
                "a-b": {"type": "string"},
                "fixed": {
                    "type": "string",
                    "maxLength": 20,
                    "x-kubernetes-validations": [
                        {"rule": "self == oldSelf", "message": "Value is immutable"}
                    ],
                },
                "names": {
                    "type": "array",
                    "maxItems": 10,
                    "items": {
                        "type": "string",
                        "maxLength": 10,
                        "x-kubernetes-validations": [{"rule": "self.size() < 5"}],
                    },
                },
                "named": {
                    "type": "array",
                    "maxItems": 5,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": {"type": "string", "maxLength": 10},
                            "size": {
                                "type": "integer",
                                "x-kubernetes-validations": [
                                    {"rule": "self >= oldSelf", "message": "it only grows"},
                                    {"rule": "self < 100"},
                                ],
                            },
                        },
                    },
                },
                "limits": {
                    "type": "object",
                    "maxProperties": 5,
                    "additionalProperties": {
                        "type": "string",
                        "maxLength": 10,
                        "x-kubernetes-validations": [{"rule": "isQuantity(self)"}],
                    },
                },
                "address": {
                    "type": "string",
                    "maxLength": 50,
                    "x-kubernetes-validations": [
                        {"rule": "isIP(self) && ip(self).family() == 4", "message": "IPv4 please"}
                    ],
                },
                "memory": {
                    "type": "string",
                    "maxLength": 10,
                    "x-kubernetes-validations": [
                        {
                            "rule": "quantity(self).isGreaterThan(quantity('1Mi'))",
                            "message": "more memory",
                        }
                    ],
                },
                "url": {
                    "type": "string",
                    "maxLength": 50,
                    "x-kubernetes-validations": [
                        {"rule": "isURL(self) && url(self).getScheme() == 'https'"}
                    ],
                },
                "sorted": {
                    "type": "array",
                    "maxItems": 5,
                    "items": {"type": "integer"},
                    "x-kubernetes-validations": [
                        {"rule": "self.isSorted() && (self.size() == 0 || self.sum() < 10)"}
                    ],
                },
                "text": {
                    "type": "string",
                    "maxLength": 20,
                    "x-kubernetes-validations": [
                        {"rule": "self.lowerAscii() == self", "message": "lower case"},
                        {"rule": "self.split(',').all(part, part.trim() != '')"},
                        {"rule": "self.find('[0-9]+') == ''", "message": "no numbers"},
                    ],
                },
                "letters": {
                    "type": "string",
                    "maxLength": 60,
                    "x-kubernetes-validations": [
                        {"rule": "self.find('^(a+)+$') == ''", "message": "another than a"},
                        {"rule": r"self.find('(\\pL)(b)\\z') == ''", "message": "no b at the end"},
                        {
                            "rule": r"self.findAll('\\pL{2}', 2) != ['xy', 'öy']",
                            "message": "no pairs",
                        },
                        {"rule": "self.findAll('z*').size() < 6", "message": "five at most"},
                        {"rule": r"self.find('c$') == '' && self.find('(?i)HAUS') == ''"},
                    ],
                },
                "choice": {"x-kubernetes-int-or-string": True},
            },
        }
    },
}


def crd(plural: str, kind: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "plural": plural,
                "singular": kind.lower(),
                "kind": kind,
                "listKind": f"{kind}List",
            },
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}},
                }
            ],
        },
    }


GAUGE_CRD = crd("gauges", "Gauge", SCHEMA)
RULER_CRD = crd("rulers", "Ruler", RULES)
