"""Laws of schemas that hold for any schema and any value."""

import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from kubevirt.apiserver.patch import json_patch, merge
from kubevirt.apiserver.patch.errors import BadPatch, PatchDoesNotApply
from kubevirt.apiserver.schema.decoding import decode, duplicate_fields
from kubevirt.apiserver.schema.defaulting import default, drop_nulls
from kubevirt.apiserver.schema.explaining import Explanation
from kubevirt.apiserver.schema.pruning import is_clean, prune
from kubevirt.apiserver.schema.structural import compile_schema
from kubevirt.apiserver.schema.validation import Validation, matches

_names = st.sampled_from("abc")
_scalars = st.none() | st.booleans() | st.integers(-2, 6) | st.sampled_from([0.5, 1.5, 2.0])
_texts = st.sampled_from(["", "a", "ab", "abc", "1", "é"])
_values = st.recursive(
    _scalars | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=3),
    max_leaves=10,
)


def _maybe(**options: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=options)


def _merged(*parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(*parts).map(lambda found: {k: v for part in found for k, v in part.items()})


_limits = st.integers(0, 3)
_leaf = st.one_of(
    _merged(
        st.just({"type": "string"}),
        _maybe(
            minLength=_limits,
            maxLength=_limits,
            pattern=st.sampled_from(["^a", "b$", "^[a-z]*$", "\\d"]),
            enum=st.lists(_texts, min_size=1, max_size=2),
            nullable=st.booleans(),
            default=_texts,
            format=st.sampled_from(["date", "ipv4", "unknown"]),
        ),
    ),
    _merged(
        st.sampled_from([{"type": "integer"}, {"type": "number"}]),
        _maybe(
            minimum=_limits,
            maximum=_limits,
            exclusiveMinimum=st.booleans(),
            exclusiveMaximum=st.booleans(),
            multipleOf=st.sampled_from([1, 2]),
            enum=st.lists(st.integers(0, 3), min_size=1, max_size=2),
            nullable=st.booleans(),
        ),
    ),
    st.just({"type": "boolean"}),
    st.just({"x-kubernetes-int-or-string": True}),
    st.just({"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
)


def _containers(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    objects = _merged(
        st.just({"type": "object"}),
        _maybe(
            required=st.lists(_names, unique=True, max_size=2),
            minProperties=_limits,
            maxProperties=_limits,
            nullable=st.booleans(),
        ),
    )
    conditions = _maybe(
        anyOf=st.lists(_condition, min_size=1, max_size=2),
        oneOf=st.lists(_condition, min_size=1, max_size=2),
        allOf=st.lists(_condition, min_size=1, max_size=2),
        **{"not": _condition},
    )
    named = st.dictionaries(_names, inner, min_size=1, max_size=3).map(
        lambda found: {"properties": found}
    )
    return st.one_of(
        _merged(objects, named, conditions),
        _merged(objects, inner.map(lambda found: {"additionalProperties": found})),
        _merged(
            st.just({"type": "array"}),
            inner.map(lambda found: {"items": found}),
            _maybe(minItems=_limits, maxItems=_limits, uniqueItems=st.booleans()),
        ),
    )


_condition = _maybe(
    required=st.lists(_names, unique=True, max_size=2),
    minProperties=_limits,
    properties=st.dictionaries(
        _names, _maybe(minimum=_limits, minLength=_limits, enum=st.just(["a", 1])), max_size=2
    ),
)
_schemas = st.recursive(_leaf, _containers, max_leaves=6)
_roots = st.dictionaries(_names, _schemas, max_size=3).map(
    lambda found: {"type": "object", "properties": found}
)


@given(source=_schemas, value=_values)
@settings(max_examples=400)
def test_what_is_accepted_quickly_would_be_accepted_slowly(source: Any, value: Any) -> None:
    """The fast judge may refuse more than the slow one, never less."""
    schema = compile_schema(source)
    if Validation(schema)._fits(value):
        assert Explanation(matches).of(value, schema) == []


@given(source=_roots, value=st.dictionaries(_names, _values, max_size=3))
def test_pruning_and_defaulting_twice_is_doing_it_once(source: Any, value: Any) -> None:
    schema = compile_schema(source)
    pruned, dropped = prune(value, schema)
    assert prune(pruned, schema) == (pruned, [])
    assert (pruned == value) == (not dropped)
    without = drop_nulls(pruned, schema)
    filled = default(without, schema)
    assert default(filled, schema) is filled or default(filled, schema) == filled


@given(source=_roots, value=st.dictionaries(_names, _values, max_size=3))
def test_what_is_clean_loses_nothing(source: Any, value: Any) -> None:
    schema = compile_schema(source)
    if is_clean(value, schema):
        assert prune(value, schema)[0] is value
        assert drop_nulls(value, schema) is value


def _with_twins(value: Any, twins: list[str]) -> str:
    """JSON text in which the first field of some objects stands twice."""
    if isinstance(value, dict):
        pairs = [
            f"{json.dumps(name)}: {_with_twins(child, twins)}" for name, child in value.items()
        ]
        if pairs and twins and twins.pop() == "a":
            pairs.append(pairs[0])
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_with_twins(item, twins) for item in value) + "]"
    return json.dumps(value)


_keys = st.sampled_from(["a", 'b"', "c\\", "d:", '":', "é"])
_documents = st.recursive(
    st.integers() | st.sampled_from(['x":', '\\":', "y"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=12,
)


@given(document=_documents, twins=st.lists(_names, max_size=10))
def test_no_duplicate_is_missed_and_none_is_made_up(document: Any, twins: list[str]) -> None:
    text = _with_twins(document, twins)
    seen: list[int] = []

    def count(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen.append(len(pairs) - len(dict(pairs)))
        return dict(pairs)

    json.loads(text, object_pairs_hook=count)
    for body in (text, text.replace(": ", ":").replace(", ", ",")):
        if body == text or json.loads(body) == json.loads(text):
            assert bool(duplicate_fields(body.encode(), decode(body.encode()))) == any(seen)


_operations = st.fixed_dictionaries(
    {
        "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "other"]),
        "path": st.lists(_names | st.sampled_from(["0", "1", "-", "-1", "x~1y"]), max_size=3).map(
            lambda steps: "".join(f"/{step}" for step in steps)
        ),
    },
    optional={"value": _values, "from": st.sampled_from(["", "/a", "/a/b", "/a/0", "/b/-1"])},
)


@given(
    document=st.dictionaries(_names, _values, max_size=3),
    operations=st.lists(_operations, max_size=4),
)
def test_a_json_patch_applies_or_is_refused_and_changes_nothing_in_place(
    document: Any, operations: list[Any]
) -> None:
    before = repr((document, operations))
    try:
        patched = json_patch.apply(document, json_patch.parse(operations))
        msgspec.json.encode(patched)
    except (PatchDoesNotApply, BadPatch):
        pass
    assert repr((document, operations)) == before


@given(
    document=st.dictionaries(_names, _values, max_size=3),
    patch=st.dictionaries(_names, _values, max_size=3),
)
def test_a_merge_patch_comes_to_rest(document: Any, patch: Any) -> None:
    """Not at once: a list that replaces an object keeps its nulls, one that replaces a list does not.
    Kubernetes does the same.
    """
    twice = merge.merge(merge.merge(document, patch), patch)
    assert merge.merge(twice, patch) == twice
