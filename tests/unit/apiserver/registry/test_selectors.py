"""Which objects a selector picks, and what is said of texts that are none."""

from typing import Any

import pytest

from kubevirt.apiserver.kinds import builtin
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry.selectors import Selection


def kind(plural: str) -> Kind:
    return next(each for each in builtin.kinds() if each.names.plural == plural)


def selection(labels: str = "", fields: str = "", plural: str = "pods") -> Selection:
    found = kind(plural)
    return Selection(found, found.versions[0], labels, fields)


def thing(labels: dict[str, str] | None = None, **parts: Any) -> dict[str, Any]:
    return {"metadata": {"name": "one", "namespace": "home", "labels": labels or {}}, **parts}


def test_nothing_asked_is_everything() -> None:
    assert selection().is_everything
    assert not selection("a").is_everything


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("a", {"a": ""}, True),
        ("a", {}, False),
        ("!a", {}, True),
        ("! a", {"a": "b"}, False),
        ("a=b", {"a": "b"}, True),
        ("a==b", {"a": "c"}, False),
        ("a!=b", {}, True),
        ("a!=b", {"a": "b"}, False),
        ("a=", {"a": ""}, True),
        ("a in (b,c)", {"a": "c"}, True),
        ("a in (b, c),x", {"a": "c"}, False),
        ("a notin (b)", {}, True),
        ("a notin (b)", {"a": "b"}, False),
        ("a in (,b)", {"a": ""}, True),
        ("a>4", {"a": "5"}, True),
        ("a < 4", {"a": "5"}, False),
        ("a>4", {"a": "x"}, False),
        ("example.org/a=b", {"example.org/a": "b"}, True),
        (" a = b , c ", {"a": "b", "c": ""}, True),
    ],
)
def test_labels_pick(text: str, labels: dict[str, str], *, expected: bool) -> None:
    assert (thing(labels) in selection(text)) is expected


@pytest.mark.parametrize(
    "text", ["((", "a=b,", "a in", "a in b", "a in (b", "a ~ b", ",", "a b", "a>x", "/a", "a=$"]
)
def test_a_text_that_is_no_selector_is_a_bad_request(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        selection(text)
    assert caught.value.status.code == 400


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("metadata.name=one", True),
        ("metadata.name!=one", False),
        ("metadata.namespace=home", True),
        ("status.phase=Running", True),
        ("status.phase==Pending", False),
        ("spec.nodeName=", True),
        ("spec.hostNetwork=true", True),
        ("status.phase=Running,spec.nodeName!=x", True),
    ],
)
def test_fields_pick(text: str, *, expected: bool) -> None:
    pod = thing(status={"phase": "Running"}, spec={"hostNetwork": True})
    assert (pod in selection(fields=text)) is expected


def test_commas_and_equals_signs_in_a_value_are_escaped() -> None:
    pod = thing(status={"phase": "a,b=c"})
    assert pod in selection(fields=r"status.phase=a\,b\=c")


def test_only_some_fields_pick() -> None:
    with pytest.raises(Refusal, match=r"field label not supported: spec\.x"):
        selection(fields="spec.x=y")
    with pytest.raises(Refusal, match=r'only "metadata\.name"'):
        selection(fields="data.x=y", plural="configmaps")


def test_a_name_that_is_asked_for_is_known() -> None:
    assert selection(fields="metadata.name=one").name == "one"
    assert selection(fields="metadata.name!=one").name == ""
