"""Answers of webhooks, and what becomes of those that make no sense."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubevirt.apiserver.admission.answers import Answer, BadAnswer, Undecodable, read_answer

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def answer(**response: object) -> Answer:
    review = {
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "response": {"uid": "u", **response},
    }
    return read_answer(msgspec.json.encode(review), "u", is_mutating=True)


def test_a_yes() -> None:
    found = answer(allowed=True, warnings=["w"], auditAnnotations={"a": "b"})
    assert found.is_allowed
    assert (found.patch, found.status) == (None, None)
    assert (found.warnings, found.annotations) == (("w",), {"a": "b"})


def test_what_is_null_is_not_there() -> None:
    found = answer(
        allowed=False, status={"message": "m", "details": None, "metadata": None}, warnings=None
    )
    assert not found.is_allowed
    assert found.status is not None
    assert found.status.message == "m"


def test_a_patch_is_bytes() -> None:
    assert answer(allowed=True, patchType="JSONPatch", patch="W10=").patch == b"[]"


@pytest.mark.parametrize(
    ("response", "error"),
    [
        ({"patch": "W10="}, BadAnswer),
        ({"patchType": "JSONPatch"}, BadAnswer),
        ({"patchType": "", "patch": "W10="}, BadAnswer),
        ({"patchType": "JSONPatch", "patch": "W1%"}, Undecodable),
        ({"status": {"code": "five"}}, Undecodable),
        ({"warnings": "one"}, Undecodable),
        ({"uid": "v"}, BadAnswer),
    ],
)
def test_answers_that_make_no_sense(response: dict[str, object], error: type[BadAnswer]) -> None:
    with pytest.raises(error) as caught:
        answer(**response)
    assert type(caught.value) is error


@given(st.binary(max_size=200) | JSON.map(msgspec.json.encode))
def test_whatever_comes_back_is_read_or_refused(body: bytes) -> None:
    with pytest.raises(BadAnswer):
        read_answer(body, "u", is_mutating=True)


@given(JSON)
def test_whatever_is_in_an_answer_is_read_or_refused(response: object) -> None:
    review = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": response}
    with pytest.raises(BadAnswer):
        read_answer(msgspec.json.encode(review), "u", is_mutating=True)


def test_depth_does_not_break_the_reader() -> None:
    deep = b'{"response":{"status":' + b'{"details":' * 5000 + b"1" + b"}" * 5002
    with pytest.raises(BadAnswer):
        read_answer(deep, "u", is_mutating=False)


def test_depth_that_the_reader_bears_breaks_nobody_behind_it() -> None:
    deep: object = 1
    for _ in range(700):
        deep = {"a": deep}
    with pytest.raises(BadAnswer):
        answer(status={"details": deep})
