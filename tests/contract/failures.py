"""The 500s that are Kubernetes' own: what it blames itself for although whoever asked was wrong.

Whoever sends requests at random (`tests/component/apiserver`) may be answered 500 for one of these causes, and for no
other. `test_failures.py` has both servers fail for each of them, in the same words.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

JSON = "application/json"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
NAMESPACE = "/api/v1/namespaces/{namespace}"
MAPS = f"{NAMESPACE}/configmaps"
LAMPS = "/apis/house.example/v1/namespaces/{namespace}/lamps"

HELD = "example.org/held"
"""A finalizer of the pod `one`."""

_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
_NO_OPTIONS = (
    r"json: cannot unmarshal .* into Go struct field (DeleteOptions|Preconditions)\..*",
    r"couldn't get version/kind; json parse error: .*",
    r"(error converting YAML to JSON: )?yaml: .*",
    r'no kind ".*" is registered for version ".*" in scheme ".*"',
    r"error unmarshaling JSON: .*",
)


@dataclass(frozen=True)
class Example:
    """A request that ends so, and the words of its answer."""

    method: str
    path: str
    says: str
    body: Any = None
    type: str = JSON
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    cause: str
    methods: Sequence[str]
    path: str
    """A pattern."""
    says: str
    """A pattern, of all of the message."""
    examples: Sequence[Example] = field(repr=False)

    def explains(self, method: str, path: str, message: str) -> bool:
        return (
            method in self.methods
            and re.fullmatch(self.path, path) is not None
            and re.fullmatch(self.says, message, re.DOTALL) is not None
        )


ANYWHERE = r"/.*"
_VERSION_OF_NEW = "resourceVersion should not be set on objects to be created"
_STRATEGIC = (
    r"list element types are not identical: .*",
    r"map: .* does not contain declared merge key: \w+",
    r"unknown patch type: .* in map: .*",
    r"The order in patch list:.* doesn't match .* list:.*",
    r"merging lists cannot yet be specified in the patch",
    r"expected a .*, but received a .*",
)


def _patch(says: str, **body: Any) -> Example:
    return Example("PATCH", f"{NAMESPACE}/pods/one", says, body=body, type=STRATEGIC)


FAILURES = (
    Failure(
        cause="options of a deletion that cannot be read",
        methods=("DELETE",),
        path=ANYWHERE,
        says="|".join(_NO_OPTIONS),
        examples=(
            Example(
                *("DELETE", f"{MAPS}/one"),
                "json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string",
                body={"dryRun": "All"},
            ),
            Example(
                *("DELETE", f"{MAPS}/one"),
                "json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of type types.UID",
                body={"preconditions": {"uid": 1}},
            ),
            Example(
                *("DELETE", MAPS),
                'no kind "Lamp" is registered for version "v1" in scheme "pkg/runtime/scheme.go:110"',
                body={"apiVersion": "v1", "kind": "Lamp"},
            ),
            Example(
                *("DELETE", MAPS),
                "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of "
                'type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
                'Kind string "json:\\"kind,omitempty\\"" }',
                body=[],
            ),
        ),
    ),
    Failure(
        cause="a version of what is yet to be created",
        methods=("POST",),
        path=ANYWHERE,
        says=_VERSION_OF_NEW,
        examples=(
            Example(
                *("POST", MAPS, _VERSION_OF_NEW),
                body={**_MAP, "metadata": {"name": "two", "resourceVersion": "1"}},
            ),
        ),
    ),
    Failure(
        cause="a change of a version that is none",
        methods=("PATCH", "PUT"),
        path=ANYWHERE,
        says=r'strconv\.ParseUint: parsing ".*": (invalid syntax|value out of range)',
        examples=(
            Example(
                *("PUT", f"{MAPS}/one", 'strconv.ParseUint: parsing "x": invalid syntax'),
                body={**_MAP, "metadata": {"name": "one", "resourceVersion": "x"}},
            ),
            Example(
                *("PATCH", f"{MAPS}/one"),
                f'strconv.ParseUint: parsing "{"9" * 20}": value out of range',
                body={"metadata": {"resourceVersion": "9" * 20}},
                type=MERGE,
            ),
        ),
    ),
    Failure(
        cause="a watch from a version that is none",
        methods=("GET",),
        path=ANYWHERE,
        says=r'resourceVersion: Invalid value: ".*": strconv.ParseUint: parsing ".*": invalid syntax',
        examples=(
            Example(
                *("GET", MAPS),
                'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
                query={"watch": "1", "resourceVersion": "x"},
            ),
        ),
    ),
    Failure(
        cause="a binding to what is no node",
        methods=("POST",),
        path=r"/api/v1/namespaces/[^/]+/(bindings|pods/[^/]+/binding)",
        says=r"\[?target\.(name: Required value|kind: Unsupported value: .*)",
        examples=(
            Example(
                *("POST", f"{NAMESPACE}/bindings", "target.name: Required value"),
                body={"metadata": {"name": "one"}, "target": {}},
            ),
            Example(
                *("POST", f"{NAMESPACE}/pods/one/binding"),
                '[target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>", '
                "target.name: Required value]",
                body={"metadata": {"name": "one"}, "target": {"kind": "Pod"}},
            ),
        ),
    ),
    Failure(
        cause="an applied object that does not fit its type",
        methods=("PATCH",),
        path=ANYWHERE,
        says=r"failed to create typed patch object \([^()]*\): .*",
        examples=(
            Example(
                *("PATCH", f"{MAPS}/one"),
                "failed to create typed patch object ({namespace}/one; /v1, Kind=ConfigMap): "
                ".dota: field not declared in schema",
                body={**_MAP, "metadata": {"name": "one", "namespace": "{namespace}"}, "dota": {}},
                type=APPLY,
                query={"fieldManager": "me"},
            ),
        ),
    ),
    Failure(
        cause="an applied scale of a custom resource",
        methods=("PATCH",),
        path=r"/apis/.*/scale",
        says=r"failed to create manager for existing fields: .*autoscaling/v1",
        examples=(
            Example(
                *("PATCH", f"{LAMPS}/one/scale"),
                "failed to create manager for existing fields: failed to convert live object "
                "(/; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid "
                "group/version: autoscaling/v1",
                body={"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": 2}},
                type=APPLY,
                query={"fieldManager": "me"},
            ),
        ),
    ),
    Failure(
        cause="a strategic patch that cannot be merged",
        methods=("PATCH",),
        path=ANYWHERE,
        says="|".join(_STRATEGIC),
        examples=(
            _patch(
                "unknown patch type: frob in map: map[$patch:frob]",
                metadata={"$patch": "frob"},
            ),
            _patch(
                "map: map[image:x] does not contain declared merge key: name",
                spec={"containers": [{"image": "x"}]},
            ),
            _patch(
                "The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder list:\n"
                "[map[name:a]]\n",
                spec={
                    "$setElementOrder/containers": [{"name": "a"}],
                    "containers": [{"name": "b"}],
                },
            ),
            _patch(
                "merging lists cannot yet be specified in the patch",
                spec={"containers": [{"$patch": "merge", "name": "main"}]},
            ),
            _patch(
                f"list element types are not identical: [[{HELD}] [map[a:b]]]",
                metadata={"finalizers": [{"a": "b"}]},
            ),
            _patch(
                "expected a []interface {}, but received a string",
                spec={"$setElementOrder/containers": "x"},
            ),
        ),
    ),
)


def explained(method: str, path: str, message: str) -> bool:
    """Whether Kubernetes says the same of itself."""
    return any(each.explains(method, path, message) for each in FAILURES)
