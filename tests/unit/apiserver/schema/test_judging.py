"""Judgements without a server: the many others are in tests/contract/test_schema_oracle.py."""

import sys
from typing import Any

import pytest

from kubevirt.apiserver.schema import authoring, gotext
from kubevirt.apiserver.schema.cel import (
    BadExpression,
    EvaluationFailed,
    compile_expression,
    uses_old_self,
)
from kubevirt.apiserver.schema.custom import CustomSchema
from kubevirt.apiserver.schema.field_errors import FieldError, Reason, invalid_message
from kubevirt.apiserver.schema.rules import Rules, escape
from kubevirt.apiserver.schema.structural import compile_schema
from kubevirt.apiserver.schema.validation import Validation

SIZE = {"type": "integer", "maximum": 5}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"spec": {"type": "object", "required": ["name"], "properties": {"size": SIZE}}},
}


def texts(errors: list[FieldError]) -> list[str]:
    return [str(error) for error in errors]


def test_every_error_names_its_field_and_its_value() -> None:
    errors = Validation(compile_schema(SCHEMA)).errors({"spec": {"size": 6}})
    assert texts(errors) == [
        "spec.size: Invalid value: 6: spec.size in body should be less than or equal to 5",
        "spec.name: Required value",
    ]
    assert invalid_message("Box.example", "a", errors).startswith(
        'Box.example "a" is invalid: [spec'
    )


def test_zero_is_a_bound_like_any_other() -> None:
    schema = compile_schema({"type": "array", "maxItems": 0, "items": {"type": "string"}})
    assert texts(Validation(schema).errors(["a"])) == [": Too many: 1: must have at most 0 items"]
    schema = compile_schema({"type": "integer", "maximum": 0})
    assert len(Validation(schema).errors(1)) == 1


def test_what_was_wrong_and_is_not_touched_may_stay() -> None:
    validation = Validation(compile_schema(SCHEMA))
    old = {"spec": {"size": 6}}
    assert validation.errors(old, old) == []
    assert texts(validation.errors({"spec": {"size": 6, "x": 1}}, old)) == [
        "spec.name: Required value"
    ]


def test_a_part_knows_where_it_stands_but_its_words_do_not() -> None:
    status = compile_schema({"type": "object", "properties": {"phase": {"type": "string"}}})
    [error] = Validation(status).errors({"phase": 1}, at="status")
    assert error.field == "status.phase"
    assert 'phase in body must be of type string: "integer"' in error.message


def test_nothing_heavy_is_loaded_for_a_schema_that_is_not_asked() -> None:
    """Fresh modules would be needed to see it here; the import inside the function is what counts."""
    schema = CustomSchema(SCHEMA)
    assert "_fits" not in vars(schema._validation)
    schema.errors_of_new({"metadata": {"name": "a"}, "spec": {"name": "x"}}, is_namespaced=False)
    assert "_fits" in vars(schema._validation)
    assert "jsonschema_rs" in sys.modules


def test_rules_are_not_asked_about_an_object_that_is_too_wrong() -> None:
    ruled = {**SIZE, "x-kubernetes-validations": [{"rule": "self > 1"}]}
    schema = CustomSchema(
        {
            "type": "object",
            "properties": {"spec": {"type": "object", "properties": {"size": ruled}}},
        }
    )
    found = schema.errors_of_new(
        {"metadata": {"name": "a"}, "spec": {"size": "x"}}, is_namespaced=False
    )
    assert [error.field for error in found] == ["spec.size", "<nil>"]
    assert "some validation rules were not checked" in found[1].message
    found = schema.errors_of_new(
        {"metadata": {"name": "a"}, "spec": {"size": 1}}, is_namespaced=False
    )
    assert texts(found) == ['spec.size: Invalid value: "integer": failed rule: self > 1']


def rules(*said: dict[str, Any], **schema: Any) -> Rules:
    return Rules(compile_schema({"type": "object", **schema, "x-kubernetes-validations": said}))


def test_a_rule_about_changes_waits_for_one() -> None:
    immutable = rules({"rule": "self == oldSelf", "message": "fixed"})
    assert immutable.broken({"a": 1}) == []
    assert immutable.broken({"a": 1}, {"a": 1}) == []
    assert texts(immutable.broken({"a": 1}, {"a": 2})) == ['<nil>: Invalid value: "object": fixed']


def test_a_rule_may_ask_whether_there_was_something() -> None:
    said = {"rule": "oldSelf.hasValue() || self.a == 1", "optionalOldSelf": True}
    assert rules(said).broken({"a": 1}) == []
    assert len(rules(said).broken({"a": 2})) == 1
    assert rules(said).broken({"a": 2}, {"a": 3}) == []


def test_a_value_that_broke_a_rule_and_did_not_change_may_go_on() -> None:
    small = rules({"rule": "self.a < 5"})
    assert small.broken({"a": 6, "b": 1}, {"a": 6, "b": 1}) == []
    assert len(small.broken({"a": 6, "b": 2}, {"a": 6, "b": 1})) == 1


def test_a_rule_that_cannot_be_evaluated_is_broken() -> None:
    [error] = rules({"rule": "self.a > 1"}).broken({})
    assert error.message == 'Invalid value: "object": no such key: a evaluating rule: self.a > 1'
    [error] = rules({"rule": "self.a > 1"}).broken({"a": "x"})
    assert "call arguments did not match a supported operator" in error.message


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("FieldValueForbidden", Reason.FORBIDDEN),
        ("FieldValueRequired", Reason.REQUIRED),
        ("FieldValueDuplicate", Reason.DUPLICATE),
        ("", Reason.INVALID),
    ],
)
def test_a_rule_says_what_kind_of_error_it_is(reason: str, expected: Reason) -> None:
    [error] = rules({"rule": "false", "reason": reason, "fieldPath": ".a.b"}).broken({"a": {}})
    assert error.reason == expected
    assert error.field == "a.b"


def test_a_message_may_be_computed_and_falls_back_to_the_written_one() -> None:
    said = {"rule": "false", "message": "written", "messageExpression": "'a is ' + self.a"}
    assert "a is x" in rules(said).broken({"a": "x"})[0].message
    assert "written" in rules(said).broken({"a": 1})[0].message


@pytest.mark.parametrize(
    ("name", "escaped"),
    [("a", "a"), ("a-b", "a__dash__b"), ("a.b/c", "a__dot__b__slash__c"), ("in", "__in__")],
)
def test_names_that_are_none_in_cel_are_escaped(name: str, escaped: str) -> None:
    assert escape(name) == escaped


def test_old_self_in_a_text_is_no_mention() -> None:
    assert uses_old_self("self == oldSelf")
    assert uses_old_self("oldSelf.a == 1")
    assert not uses_old_self("self == 'oldSelf' || self.oldSelf == 1")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("self.?a.orValue('x')", "x"),
        ("quantity('1Gi').isGreaterThan(quantity('1G'))", True),
        ("quantity('1').add(quantity('500m')).compareTo(quantity('1500m'))", 0),
        ("quantity('2').asInteger() + quantity('3').sign()", 3),
        ("isQuantity('1x')", False),
        ("[1, 2, 2].isSorted() && [3, 1].sum() == 4 && [3, 1].min() == 1", True),
        ("[1, 2, 1].indexOf(1) + [1, 2, 1].lastIndexOf(1)", 2),
        ("'a1b22'.findAll('[0-9]+').size()", 2),
        ("'a1b22'.find('([a-z])([0-9])') + 'x'.find('y')", "a1"),
        ("'abc'.findAll('x*').size() + 'abc'.findAll('[a-z]', 2).size()", 6),
        (r"'ä\ue000b'.findAll('\\pL').join('-') + 'ä\ue000b'.find('\ue000')", "ä-b\ue000"),
        (r"'a\n'.find('a$') + 'a\n'.find('\\z')", ""),
        ("sets.contains([1, 2], [1]) && !sets.intersects([1], [2])", True),
        ("url('https://user@a.b:80/c?d=e').getHostname()", "a.b"),
        ("url('https://[::1]:80/c').getHost() + url('https://a/').getPort()", "[::1]:80"),
        ("isURL('nothing')", False),
        ("ip('10.0.0.1').family() + (ip('::1').isLoopback() ? 0 : 1)", 4),
        ("cidr('10.0.0.0/8').containsIP('10.1.1.1')", True),
        ("cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && isCIDR('::/0')", True),
        ("cidr('10.0.0.1/8').masked() == cidr('10.0.0.0/8')", True),
        ("'a,b'.split(',').join('-').upperAscii()", "A-B"),
        ("cel.bind(x, 2, x * x)", 4),
        ("math.greatest(1, 2)", 2),
    ],
)
def test_functions_that_kubernetes_adds(expression: str, value: Any) -> None:
    assert compile_expression(expression)({"self": {}}) == value


def test_no_pattern_makes_a_search_take_long() -> None:
    find = compile_expression("self.find('^(a+)+$') + string(self.findAll('(a|aa)+b').size())")
    assert find({"self": "a" * 100_000 + "!"}) == "0"


def test_a_pattern_that_is_none_is_an_error() -> None:
    with pytest.raises(EvaluationFailed, match="Illegal regex: "):
        compile_expression("self.find('(')")({"self": "a"})


def test_what_is_no_expression_is_refused_in_the_compilers_words() -> None:
    with pytest.raises(BadExpression, match=r"ERROR: <input>:1:\d+: "):
        compile_expression("self.(")


def test_an_expression_without_a_value_says_why() -> None:
    with pytest.raises(EvaluationFailed, match="division by zero"):
        compile_expression("1 / self")({"self": 0})
    with pytest.raises(EvaluationFailed, match="index out of bounds: 3"):
        compile_expression("self[3]")({"self": []})


def test_a_default_that_breaks_its_own_schema_is_the_authors_mistake() -> None:
    schema = {"type": "object", "properties": {"spec": {"type": "string", "default": 5}}}
    [error] = authoring.errors(schema, "s")
    assert error.field == "s.properties[spec].default"


def test_a_pattern_that_is_none_is_the_authors_mistake_and_fits_nothing() -> None:
    source = {"type": "object", "properties": {"spec": {"type": "string", "pattern": "("}}}
    [error] = authoring.errors(source, "s")
    assert error.field == "s.properties[spec].pattern"
    assert "must be a valid regular expression" in error.message
    assert len(Validation(compile_schema(source)).errors({"spec": "x"})) == 1
    assert Validation(compile_schema(source)).errors({}) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (1.5, "1.5"),
        (1e21, "1e+21"),
        (0.00001, "1e-05"),
        (123456789.5, "1.234567895e+08"),
        (100000.0, "100000"),
        (1000000.0, "1e+06"),
        (-2.5e9, "-2.5e+09"),
        (0.0001, "0.0001"),
        (1.5e-7, "1.5e-07"),
        (True, "true"),
        (None, "<nil>"),
        ({"b": [1, "x"], "a": None}, "map[a:<nil> b:[1 x]]"),
    ],
)
def test_values_are_shown_as_go_shows_them(value: Any, text: str) -> None:
    assert gotext.shown(value) == text


def test_texts_are_quoted_as_go_quotes_them() -> None:
    assert gotext.quoted('a"b\\c\n\x01é\u200b') == '"a\\"b\\\\c\\n\\x01é\\u200b"'
