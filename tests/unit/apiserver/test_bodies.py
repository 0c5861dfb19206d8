"""Bodies of requests: whatever is sent, it is data or a refusal, and it ends."""

import pytest

from kubevirt.apiserver.http import bodies
from kubevirt.apiserver.refusals import Refusal

JSON, YAML = "application/json", "application/yaml"


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
        (b"[" * 100_000, "json parse error"),
        (b"\xff", "json parse error"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_json_is_a_bad_request(text: bytes, words: str) -> None:
    with pytest.raises(Refusal) as caught:
        bodies.as_object(text, JSON, "ConfigMap")
    assert caught.value.status.code == 400
    assert words in caught.value.status.message


def test_a_few_lines_that_mean_billions_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(Refusal, match="excessive aliasing"):
        bodies.as_object("\n".join(lines).encode(), YAML, "ConfigMap")
    with pytest.raises(Refusal, match="excessive aliasing"):
        bodies.as_object(b"a: &a [*a]", YAML, "ConfigMap")


@pytest.mark.parametrize("text", [b"a: [", b"\t", b"a: !!python/object:os.system {}", b"\x00"])
def test_what_is_no_yaml_is_a_bad_request(text: bytes) -> None:
    with pytest.raises(Refusal, match="error converting YAML to JSON"):
        bodies.as_object(text, YAML, "ConfigMap")


def test_a_configuration_may_be_yaml_or_json() -> None:
    assert bodies.as_patch(b"a: 1\n", is_yaml=True).value == {"a": 1}
    assert bodies.as_patch(b'{"a": 1}', is_yaml=True).value == {"a": 1}
    assert bodies.as_patch(b"{a: 1}", is_yaml=True).value == {"a": 1}
    with pytest.raises(Refusal, match="error decoding patch: unexpected end of JSON input"):
        bodies.as_patch(b"{", is_yaml=False)


def test_fields_that_are_there_twice_are_noticed() -> None:
    assert list(bodies.as_object(b'{"a":1,"a":2}', JSON, "ConfigMap").duplicates) == ["a"]


def test_other_forms_are_not_read() -> None:
    with pytest.raises(Refusal) as caught:
        bodies.as_object(b"", "text/plain", "ConfigMap")
    assert caught.value.status.code == 415


def test_a_deletion_needs_no_options() -> None:
    assert bodies.as_options(b"", JSON) is None
    assert bodies.as_options(b'{"gracePeriodSeconds":0}', JSON) == {"gracePeriodSeconds": 0}
