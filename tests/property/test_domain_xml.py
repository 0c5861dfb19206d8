"""Any domain survives the way to XML and back, and text that is none is refused, not crashed on."""

from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.hostile import check_sentence
from tests.unit.virt.domain_cases import cases

from kubevirt.virt.domain.domain import Domain
from kubevirt.virt.domain.xml.element import Element
from kubevirt.virt.domain.xml.errors import UnreadableXmlError
from kubevirt.virt.domain.xml.reading import from_xml
from kubevirt.virt.domain.xml.writing import to_xml

FIELDS_AT_MOST = 4
GOLDEN = [case.golden.read_bytes() for case in cases()]

carried = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="￾￿")
    | st.sampled_from("\t\n<>&'\""),
    max_size=12,
)


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    if get_origin(hint) is Annotated:
        return values_of(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return values_of(next(each for each in get_args(hint) if each is not NoneType))
    if get_origin(hint) is tuple:
        return st.lists(values_of(get_args(hint)[0]), min_size=1, max_size=2).map(tuple)
    if hint in {str, int, bool}:
        return {str: carried, int: st.integers(), bool: st.booleans()}[hint]
    return st.deferred(lambda: elements_of(hint))


@st.composite
def elements_of(draw: st.DrawFn, element: type[Element]) -> Element:
    hints = get_type_hints(element, include_extras=True)
    fields = msgspec.structs.fields(element)
    optional = [field.name for field in fields if not field.required]
    chosen = (
        draw(st.lists(st.sampled_from(optional), max_size=FIELDS_AT_MOST, unique=True))
        if (optional)
        else []
    )
    wanted = {field.name for field in fields if field.required} | set(chosen)
    values = {name: draw(values_of(hints[name])) for name in hints if name in wanted}
    return element(**values)


@given(elements_of(Domain))
@settings(max_examples=200)
def test_any_domain_survives_writing_and_reading(domain: Element) -> None:
    text = to_xml(domain)
    assert from_xml(text, Domain) == domain
    assert to_xml(from_xml(text, Domain)) == text


@given(st.sampled_from(GOLDEN), st.data())
def test_a_damaged_text_is_refused_or_read(text: bytes, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(text) - 1))
    length = data.draw(st.integers(0, 40))
    junk = data.draw(st.binary(max_size=40))
    damaged = text[:place] + junk + text[place + length :]
    try:
        from_xml(damaged, Domain)
    except UnreadableXmlError as refusal:
        check_sentence(refusal)
