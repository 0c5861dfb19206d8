"""Bodies of requests: whatever is sent, it is data or a refusal, and it ends."""

import msgspec
import pytest

from kubevirt.apiserver.http import bodies
from kubevirt.apiserver.refusals import Refusal

JSON, YAML = "application/json", "application/yaml"
APPLY = "application/apply-patch+yaml"


def test_json_and_yaml_say_the_same() -> None:
    text = b"metadata:\n  name: one\ndata:\n  when: 2001-01-01\n  yes: [1, 2.5, null]\n"
    found = bodies.as_object(text, YAML, "ConfigMap").value
    assert found == {
        "metadata": {"name": "one"},
        "data": {"when": "2001-01-01", "true": [1, 2.5, None]},
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "unexpected end of JSON input (<empty>)"),
        (b'{"a":1', 'unexpected end of JSON input ({"a":1)'),
        (b"{a}", "invalid character 'a' looking for"),
        (b"[" * 100_000, "invalid character '[' exceeded max depth"),
        (b'{"a":' * 129 + b"1" + b"}" * 129, "invalid character '{' exceeded max depth"),
        (b"\xff", "json parse error"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_json_is_a_bad_request(text: bytes, words: str) -> None:
    with pytest.raises(Refusal) as caught:
        bodies.as_object(text, JSON, "ConfigMap")
    assert caught.value.status.code == 400
    assert words in caught.value.status.message


def test_what_is_nested_as_deeply_as_can_be_is_read() -> None:
    text = b'{"a":' * 128 + b"1" + b"}" * 128
    assert bodies.as_object(text, JSON, "ConfigMap").value == msgspec.json.decode(text)


def test_what_is_no_utf8_inside_a_string_is_replaced() -> None:
    assert bodies.as_object(b'{"a":"\xff"}', JSON, "ConfigMap").value == {"a": "\ufffd"}


def test_a_few_lines_that_mean_billions_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(Refusal, match="yaml: document contains excessive aliasing"):
        bodies.as_object("\n".join(lines).encode(), YAML, "ConfigMap")
    with pytest.raises(Refusal, match="yaml: anchor 'a' value contains itself"):
        bodies.as_object(b"a: &a [*a]", YAML, "ConfigMap")


@pytest.mark.timeout(10)
@pytest.mark.parametrize("text", [b"[" * 3_000_000, b"- " * 1_500_000, b"{a: " * 700_000])
def test_a_deep_yaml_document_is_refused_at_once(text: bytes) -> None:
    """The library takes time that grows with the square of the depth, and holds everybody up meanwhile."""
    with pytest.raises(Refusal, match="yaml: exceeded max depth of 128"):
        bodies.as_object(text, YAML, "ConfigMap")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"a: [", "yaml: line 1: did not find expected node content (613a205b)"),
        (b"\t", "yaml: found character that cannot start any token"),
        (b"\x00", "yaml: control characters are not allowed (00)"),
        (b"a: *b", "yaml: unknown anchor 'b' referenced"),
        (b"? [a]\n: b", "yaml: invalid map key"),
        (b"a: !!int x", "yaml: cannot decode !!str `x` as a !!int"),
        (b"<<: 1", "yaml: map merge requires map or sequence of maps as the value"),
    ],
    ids=str,
)
def test_what_is_no_yaml_is_a_bad_request(text: bytes, words: str) -> None:
    with pytest.raises(Refusal) as caught:
        bodies.as_object(text, YAML, "ConfigMap")
    assert caught.value.status.code == 400
    assert words in caught.value.status.message


def test_only_the_first_document_counts_and_none_is_an_empty_object() -> None:
    assert bodies.as_object(b"a: 1\n---\nb: 2\n", YAML, "ConfigMap").value == {"a": 1}
    assert bodies.as_object(b"", YAML, "ConfigMap").value == {}


def test_mappings_can_be_merged() -> None:
    text = b"x: &x {a: 1, b: 2}\np: {<<: *x, b: 3}\nq: {<<: [{a: 4}, *x]}\n"
    found = bodies.as_object(text, YAML, "ConfigMap").value
    assert (found["p"], found["q"]) == ({"a": 1, "b": 3}, {"a": 4, "b": 2})


def test_a_configuration_may_be_yaml_or_json() -> None:
    assert bodies.as_patch(b"a: 1\n", APPLY).value == {"a": 1}
    assert bodies.as_patch(b'{"a": 1}', APPLY).value == {"a": 1}
    assert bodies.as_patch(b"{a: 1}", APPLY).value == {"a": 1}
    with pytest.raises(Refusal, match="error decoding patch: unexpected end of JSON input"):
        bodies.as_patch(b"{", "application/merge-patch+json")


def test_fields_that_are_there_twice_are_noticed() -> None:
    assert list(bodies.as_object(b'{"a":1,"a":2}', JSON, "ConfigMap").duplicates) == ["a"]


def test_other_forms_are_not_read() -> None:
    with pytest.raises(Refusal) as caught:
        bodies.as_object(b"", "text/plain", "ConfigMap")
    assert caught.value.status.code == 415


def test_a_deletion_needs_no_options() -> None:
    assert bodies.as_options(b"", JSON) is None
    assert bodies.as_options(b'{"gracePeriodSeconds":0}', JSON) == {"gracePeriodSeconds": 0}
