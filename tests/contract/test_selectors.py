"""Selectors, letter by letter: what they pick, and in which words a text is refused that is none."""

from typing import Any

import pytest
from tests.contract.lamps import CONFIG_MAPS

from kubevirt.kube.client import Client
from kubevirt.kube.errors import BadRequest

MAPS = "/api/v1/namespaces/default/configmaps"
LABELS: dict[str, dict[str, str]] = {
    "none": {},
    "empty": {"a": ""},
    "b": {"a": "b"},
    "c": {"a": "c", "in": "notin"},
    "five": {"a": "5"},
    "vast": {"a": "99999999999999999999"},
}
PICKED = {
    "a": "b c empty five vast",
    "!a": "none",
    "a=": "empty",
    "a!=": "b c five none vast",
    "a==b": "b",
    "a in (b,c)": "b c",
    "a in ()": "empty",
    "a in (,)": "empty",
    "a in (,b)": "b empty",
    "a in (b,,c)": "b c empty",
    "a in (,,,)": "empty",
    "a in (b,)": "b empty",
    "a notin (b,c)": "empty five none vast",
    "a in (in,notin,b)": "b",
    "in in (notin)": "c",
    "in=notin": "c",
    "in": "c",
    "a>4": "five",
    "a<6": "five",
    "a>9223372036854775806": "",
    "\ta\n=\rb ": "b",
}
"""By a label selector: the names of those that it picks."""
VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
NUMBER = "for 'Gt', 'Lt' operators, the value must be an integer"
_PARSED = "unable to parse requirement: "
REFUSED = {
    "a in (b c)": _PARSED + "found 'c', expected: ',' or ')'",
    "a in (b=c)": _PARSED + "found '=', expected: ',' or ')'",
    "a in (b !c)": _PARSED + "found '!', expected: ',' or ')'",
    "a in (b": _PARSED + "found '', expected: ',' or ')'",
    "a in (b,": _PARSED + "found '', expected: ',', or identifier",
    "a in (b,!c)": _PARSED + "found '!', expected: ',', or identifier",
    "a in (": _PARSED + "found '', expected: ',', ')' or identifier",
    "a in (=)": _PARSED + "found '=', expected: ',', ')' or identifier",
    "a in": _PARSED + "found '' expected: '('",
    "a in b": _PARSED + "found 'b' expected: '('",
    "a in ((b)": _PARSED + "found '(', expected: ',', ')' or identifier",
    "a==(": _PARSED + "found '(', expected: identifier",
    "a=(b)": _PARSED + "found '(', expected: identifier",
    "a!==b": _PARSED + "found '=', expected: identifier",
    "a===b": _PARSED + "found '=', expected: identifier",
    "a=!b": _PARSED + "found '!', expected: identifier",
    "a b": _PARSED + "found 'b', expected: in, notin, =, ==, !=, gt, lt",
    "a!b": _PARSED + "found '!', expected: in, notin, =, ==, !=, gt, lt",
    "a(b)": _PARSED + "found '(', expected: in, notin, =, ==, !=, gt, lt",
    "!": _PARSED + "found '', expected: identifier",
    "!!a": _PARSED + "found '!', expected: identifier",
    "!a=b": "found '=', expected: ',' or 'end of string'",
    "!a in (b)": "found 'in', expected: ',' or 'end of string'",
    "a=b c": "found 'c', expected: ',' or 'end of string'",
    "a in (b))": "found ')', expected: ',' or 'end of string'",
    "a,": "found '', expected: identifier after ','",
    "a,,b": "found ',', expected: identifier after ','",
    "a=b,(": "found '(', expected: identifier after ','",
    ",a": "found ',', expected: !, identifier, or 'end of string'",
    "=b": "found '=', expected: !, identifier, or 'end of string'",
    ")": "found ')', expected: !, identifier, or 'end of string'",
    "a=b,c=$": f'{_PARSED}values[0][c]: Invalid value: "$": {VALUE}',
    "a in (b,$,.)": f'{_PARSED}[values[0][a]: Invalid value: "$": {VALUE}, '
    f'values[1][a]: Invalid value: ".": {VALUE}]',
    "a>x": f'{_PARSED}values[0]: Invalid value: "x": {NUMBER}',
    "a<+6": f'{_PARSED}values[0][a]: Invalid value: "+6": {VALUE}',
    "a>": f'{_PARSED}values[0]: Invalid value: "": {NUMBER}',
    "a<9223372036854775808": f'{_PARSED}values[0]: Invalid value: "9223372036854775808": {NUMBER}',
    "a>$": f'{_PARSED}[values[0]: Invalid value: "$": {NUMBER}, '
    f'values[0][a]: Invalid value: "$": {VALUE}]',
}
FIELDS_REFUSED = {
    "metadata.name=a=b": "invalid field selector: unescaped character in value: 61",
    "metadata.name==a=b": "invalid field selector: unescaped character in value: 61",
    "metadata.name===a": "invalid field selector: unescaped character in value: 61",
    r"metadata.name=a\x": r"invalid field selector: invalid escape sequence: \x",
    "metadata.name=a\\": "invalid field selector: invalid escape sequence: \\",
    r"metadata.name!=x\,metadata.name=foo": (
        "invalid field selector: unescaped character in value: 61"
    ),
    "metadata.name": "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
    "metadata.name>a": "invalid selector: 'metadata.name>a'; can't understand 'metadata.name>a'",
    "metadata.name=a,z,y": "invalid selector: 'metadata.name=a,z,y'; can't understand 'y'",
    "z=1,y": "invalid selector: 'z=1,y'; can't understand 'y'",
    "z=1,metadata.name=a=b": "invalid field selector: unescaped character in value: 61",
    "z=1,y=2": '"y" is not a known field selector: only "metadata.name", "metadata.namespace"',
    "=a": '"" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ".metadata.name=a": (
        '".metadata.name" is not a known field selector: only "metadata.name", "metadata.namespace"'
    ),
    r"metadata\.name=a": (
        r'"metadata\\.name" is not a known field selector: only "metadata.name", '
        '"metadata.namespace"'
    ),
}
FIELDS_PICKED = {
    "metadata.name=b": "b",
    "metadata.name==b": "b",
    "metadata.name!=b": "c empty five none vast",
    ",metadata.name=b,,": "b",
    "metadata.name=b,metadata.name=c": "",
    "metadata.name=b,metadata.name!=b": "",
    r"metadata.name!=x\,y\=\\": "b c empty five none vast",
    r"metadata.name=b\,c": "",
    "metadata.name=": "",
    "metadata.name!=": "b c empty five none vast",
}


@pytest.fixture
async def maps(client: Client, namespace: str) -> str:
    """A namespace with some that are labelled as their names tell."""
    for name, labels in LABELS.items():
        map_: dict[str, Any] = {"metadata": {"name": name, "labels": {"of": "us", **labels}}}
        await client.create(CONFIG_MAPS, map_, namespace)
    return namespace


async def picked(client: Client, maps: str, *, labels: str = "", fields: str = "") -> str:
    selector = f"of=us,{labels}" if labels else "of=us"
    found = await client.list(CONFIG_MAPS, maps, label_selector=selector, field_selector=fields)
    return " ".join(each["metadata"]["name"] for each in found.items)


async def refusal(client: Client, **params: str) -> str:
    with pytest.raises(BadRequest) as caught:
        await client.raw("GET", MAPS, params=params)
    assert caught.value.status.reason == "BadRequest"
    return caught.value.status.message


async def test_labels_pick_what_the_text_says(client: Client, maps: str) -> None:
    for text, expected in PICKED.items():
        assert await picked(client, maps, labels=text) == expected, text


async def test_fields_pick_what_the_text_says(client: Client, maps: str) -> None:
    for text, expected in FIELDS_PICKED.items():
        assert await picked(client, maps, fields=text) == expected, text


@pytest.mark.parametrize("text", REFUSED)
async def test_a_text_that_is_no_label_selector_picks_nothing(client: Client, text: str) -> None:
    words = REFUSED[text]
    assert await refusal(client, labelSelector=text) == words


@pytest.mark.parametrize("text", FIELDS_REFUSED)
async def test_a_text_that_is_no_field_selector_picks_nothing(client: Client, text: str) -> None:
    assert await refusal(client, fieldSelector=text) == FIELDS_REFUSED[text]
