"""Writing: an element value to XML text. The same value always gives the same bytes.

The tree is made of ElementTree nodes and serialised by ElementTree, so a value can only become the
text of a node or of an attribute, never markup. What escaping cannot save, a control character, is
refused with the place where it stands.
"""

import re
from typing import Any, Final, assert_never
from xml.etree import ElementTree as ET

from kubevirt.virt.domain.xml.element import Element
from kubevirt.virt.domain.xml.errors import UnfitTextError
from kubevirt.virt.domain.xml.shape import Child, Leaf, Part, Present, shape_of

# XML 1.0 lacks the control characters. A carriage return would come back as a newline, so it is
# not carried either.
_UNFIT: Final = re.compile(r"[^\t\n\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


def to_xml(value: Element, name: str = "domain") -> str:
    """The element under the given name, indented by two blanks, with a newline at the end."""
    root = ET.Element(name, {"xmlns": value.namespace} if value.namespace else {})
    _fill(root, value, value.namespace)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", short_empty_elements=True) + "\n"


def _fill(node: ET.Element, value: Element, namespace: str) -> None:
    shape = shape_of(type(value))
    for attribute in shape.attributes:
        content = getattr(value, attribute.field)
        if content is not None:
            text = _fit(attribute.value.spell(content), node.tag, attribute.name)
            node.set(attribute.name, text)
    if shape.text and (content := getattr(value, shape.text.field)) is not None:
        node.text = _fit(shape.text.value.spell(content), node.tag)
    for part in shape.parts:
        content = getattr(value, part.field)
        if content is None or content is False or content == ():
            continue
        for each in content if part.repeats else (content,):
            child = _child(node, part.name, part.namespace, namespace)
            _fill_part(child, part, each)


def _fill_part(node: ET.Element, part: Part, content: Any) -> None:
    match part:
        case Present():
            pass
        case Leaf():
            node.text = _fit(part.value.spell(content), part.name)
        case Child():
            _fill(node, content, part.namespace)
        case _:
            assert_never(part)


def _child(node: ET.Element, name: str, namespace: str, around: str) -> ET.Element:
    # Declared where it begins, as default namespace: no prefixes, no registry of prefixes.
    return ET.SubElement(node, name, {} if namespace == around else {"xmlns": namespace})


def _fit(text: str, tag: str, attribute: str = "") -> str:
    if unfit := _UNFIT.search(text):
        raise UnfitTextError(f"<{tag}> {attribute}".strip(), unfit.group())
    return text
