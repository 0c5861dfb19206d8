"""The engine: what a class says, and what XML becomes of it."""

from typing import ClassVar

import pytest
from msgspec import field

from kubevirt.base.errors import UserError
from kubevirt.virt.domain.xml import reading
from kubevirt.virt.domain.xml.element import Attr, Element, Flag, OnOff, Text, YesNo
from kubevirt.virt.domain.xml.errors import UnfitTextError, UnreadableXmlError
from kubevirt.virt.domain.xml.reading import from_xml
from kubevirt.virt.domain.xml.shape import shape_of
from kubevirt.virt.domain.xml.writing import to_xml


class Wick(Element, frozen=True, kw_only=True):
    length: Attr[int]
    material: Text[str] = "cotton"


class Label(Element, frozen=True, kw_only=True):
    namespace: ClassVar[str] = "urn:labels"

    text: str | None = None


class Lamp(Element, frozen=True, kw_only=True):
    kind: Attr[str]
    lit: YesNo = None
    dimmed: OnOff = None
    name: str | None = None
    height: int | None = None
    portable: Flag = False
    wicks: tuple[Wick, ...] = field(default=(), name="wick")
    tags: tuple[str, ...] = field(default=(), name="tag")
    label: Label | None = None


FULL = Lamp(
    kind="oil",
    lit=True,
    dimmed=False,
    name="Aladdin",
    height=12,
    portable=True,
    wicks=(Wick(length=1), Wick(length=2, material="wool")),
    tags=("old", "brass"),
    label=Label(text="do not rub"),
)
FULL_XML = """\
<lamp kind="oil" lit="yes" dimmed="off">
  <name>Aladdin</name>
  <height>12</height>
  <portable />
  <wick length="1">cotton</wick>
  <wick length="2">wool</wick>
  <tag>old</tag>
  <tag>brass</tag>
  <label xmlns="urn:labels">
    <text>do not rub</text>
  </label>
</lamp>
"""


def test_fields_are_written_in_their_order_attributes_first() -> None:
    assert to_xml(FULL, "lamp") == FULL_XML


def test_what_is_not_there_leaves_nothing() -> None:
    assert to_xml(Lamp(kind="oil"), "lamp") == '<lamp kind="oil" />\n'


def test_reading_gives_back_what_was_written() -> None:
    assert from_xml(FULL_XML, Lamp, "lamp") == FULL
    assert from_xml(FULL_XML.encode(), Lamp, "lamp") == FULL


def test_a_foreign_prefix_means_the_same_namespace() -> None:
    text = '<lamp kind="oil" xmlns:l="urn:labels"><l:label><l:text>hot</l:text></l:label></lamp>'
    assert from_xml(text, Lamp, "lamp").label == Label(text="hot")


def test_an_element_of_another_namespace_is_another_element() -> None:
    text = '<lamp kind="oil"><label><text>hot</text></label><name xmlns="urn:x">x</name></lamp>'
    assert from_xml(text, Lamp, "lamp") == Lamp(kind="oil")


def test_an_element_with_a_namespace_can_be_the_outermost() -> None:
    text = to_xml(Label(text="hot"), "label")
    assert text.startswith('<label xmlns="urn:labels">')
    assert from_xml(text, Label, "label") == Label(text="hot")


def test_what_no_class_names_is_dropped() -> None:
    text = '<lamp kind="oil" colour="red"><shade/><wick length="1" burnt="yes">wool</wick></lamp>'
    assert from_xml(text, Lamp, "lamp") == Lamp(
        kind="oil", wicks=(Wick(length=1, material="wool"),)
    )


def test_markup_in_a_value_stays_text() -> None:
    nasty = Lamp(kind="\"><evil/>&amp;'", name="<!-- ]]> &lt; -->", tags=("</tag><evil/>",))
    text = to_xml(nasty, "lamp")
    assert "<evil" not in text
    assert from_xml(text, Lamp, "lamp") == nasty


def test_tabs_and_newlines_survive() -> None:
    lamp = Lamp(kind="a\tb\nc", name="a\tb\nc")
    assert from_xml(to_xml(lamp, "lamp"), Lamp, "lamp") == lamp


@pytest.mark.parametrize("character", ["\0", "\x0b", "\x1f", "\r", "\ud800", "￾"])
def test_a_character_without_a_spelling_is_refused_with_its_place(character: str) -> None:
    code = f"U+{ord(character):04X}"
    with pytest.raises(UnfitTextError, match=rf"the value of <lamp> kind holds .*{code[2:]}"):
        to_xml(Lamp(kind=f"a{character}b"), "lamp")
    with pytest.raises(UnfitTextError, match="the value of <name> holds"):
        to_xml(Lamp(kind="oil", name=character), "lamp")


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("<lamp", "unclosed token"),
        ("", "no element found"),
        ("<torch/>", "the outermost element is not <lamp>"),
        ('<lamp kind="oil"><name>a</name><name>b</name></lamp>', "<name> stands twice in <lamp>"),
        ("<lamp/>", "<lamp> lacks kind"),
        ('<lamp kind="oil"><wick>wool</wick></lamp>', "<wick> lacks length"),
        ('<lamp kind="oil" lit="perhaps"/>', "the value of <lamp> lit is not of its kind"),
        (
            '<lamp kind="oil"><height>tall</height></lamp>',
            "the value of <height> is not of its kind",
        ),
        ('<lamp kind="oil"><wick length="x"/></lamp>', "the value of <wick> length is not"),
        ('<!DOCTYPE lamp><lamp kind="oil"/>', "it declares a document type"),
        (
            '<!DOCTYPE lamp [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><lamp kind="&b;"/>',
            "it declares a document type",
        ),
        (
            '<!DOCTYPE lamp [<!ENTITY a SYSTEM "file:///etc/passwd">]><lamp kind="oil">&a;</lamp>',
            "it declares a document type",
        ),
        ('<lamp kind="oil">&undefined;</lamp>', "undefined entity"),
    ],
)
def test_a_text_that_is_no_lamp_is_refused(text: str, cause: str) -> None:
    with pytest.raises(UnreadableXmlError, match=cause) as refusal:
        from_xml(text, Lamp, "lamp")
    assert isinstance(refusal.value, UserError)


def test_a_text_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SIZE_LIMIT", 100)
    with pytest.raises(UnreadableXmlError, match="100 are the most"):
        from_xml(f'<lamp kind="{"x" * 100}"/>', Lamp, "lamp")


def test_a_text_without_bottom_is_refused() -> None:
    with pytest.raises(UnreadableXmlError, match="nested deeper than 64"):
        from_xml("<lamp>" * 1000, Lamp, "lamp")


def test_more_elements_than_anyone_needs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "NODE_LIMIT", 5)
    with pytest.raises(UnreadableXmlError, match="more than 5 elements"):
        from_xml(f'<lamp kind="oil">{"<tag/>" * 5}</lamp>', Lamp, "lamp")


def test_a_class_that_cannot_be_xml_is_a_bug_found_at_first_use() -> None:
    class Mixed(Element, frozen=True, kw_only=True):
        text: Text[str]
        name: str

    class Unclear(Element, frozen=True, kw_only=True):
        either: Attr[int | str]

    class Unknown(Element, frozen=True, kw_only=True):
        weight: Attr[float]

    wrong: list[type[Element]] = [Mixed, Unclear, Unknown]
    for element in wrong:
        with pytest.raises(TypeError):
            shape_of(element)
