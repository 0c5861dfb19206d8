"""Hostile input: texts made to break out, and objects into which they are put."""

from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st

from kubevirt.base.errors import UserError

NASTY = (
    "",
    "..",
    "../../../etc/passwd",
    "/etc/passwd",
    '"/><disk type="file"><source file="/etc/shadow"/></disk><x a="',
    "</name><devices/><name>",
    "]]><evil/><![CDATA[",
    "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>&e;",
    "&lt;&amp;&#60;evil/&#62;",
    "q35,accel=kvm:tcg -netdev user",
    "a,b=c;d",
    "a\nport=53\ndhcp-script=/bin/sh",
    "a\r\nb",
    'a","b":"c',
    "tag:!known,set:x",
    "#comment",
    "@set",
    "*",
    "{ 0.0.0.0/0 }",
    "\\",
    '\\" ,x',
    "$(reboot) `reboot` ${PATH}",
    "%s%n{0}{x.__class__}",
    "\0",
    "\x1b[31m",
    "￿",
    "ünïcödé 日本 🖥",
    "x" * 3000,
    "-o",
    " leading and trailing ",
)

texts = st.sampled_from(NASTY) | st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=40
)

Path = tuple[str | int, ...]


def string_places(data: Any, path: Path = ()) -> Iterator[Path]:
    """Where the strings are in a JSON value."""
    match data:
        case str():
            yield path
        case dict():
            for key, value in data.items():
                yield from string_places(value, (*path, key))
        case list() | tuple():
            for number, value in enumerate(data):
                yield from string_places(value, (*path, number))
        case _:
            return


def replaced(data: Any, path: Path, value: str) -> Any:
    """The value with one string exchanged."""
    if not path:
        return value
    head, *rest = path
    if isinstance(data, dict):
        return {
            key: replaced(each, tuple(rest), value) if key == head else each
            for key, each in data.items()
        }
    return [
        replaced(each, tuple(rest), value) if number == head else each
        for number, each in enumerate(data)
    ]


@st.composite
def spoiled(
    draw: st.DrawFn,
    objects: st.SearchStrategy[Any],
    only: Callable[[Path], bool] = lambda _: True,
) -> tuple[Any, tuple[str, ...]]:
    """An object with a few of its strings exchanged for hostile ones, and those."""
    data = draw(objects)
    places = [place for place in string_places(data) if only(place)]
    chosen = draw(st.lists(st.sampled_from(places), max_size=3, unique=True))
    words = []
    for place in chosen:
        word = draw(texts)
        data = replaced(data, place, word)
        words.append(word)
    return data, tuple(words)


def check_sentence(refusal: UserError) -> None:
    """A refusal is one line that a person can read, however hostile what it speaks of."""
    text = str(refusal)
    assert text.isprintable(), text
    assert len(text) < 1000, text
