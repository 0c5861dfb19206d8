"""Reading: XML text to an element value, through one gate with limits.

What comes in was written by libvirt, or by a hook that a user brought along; so it is bounded in
size and depth, and a document type, the home of entity bombs and of reading other people's files, is
refused at sight. Elements and attributes that no class names are dropped: libvirt adds many to what
it was given. A text that was read is therefore for looking at; whoever wants to change a foreign
document keeps its text.
"""

from collections.abc import Mapping
from typing import Any, Final, NoReturn, TypeVar, assert_never
from xml.etree import ElementTree as ET
from xml.parsers import expat

from kubevirt.virt.domain.xml.element import Element
from kubevirt.virt.domain.xml.errors import UnreadableXmlError
from kubevirt.virt.domain.xml.shape import Child, Leaf, Present, Shape, Value, shape_of

E = TypeVar("E", bound=Element)

SIZE_LIMIT: Final = 4 * 1024 * 1024
"""Bytes. A guest with 512 vCPUs and 256 disks stays under one megabyte."""
DEPTH_LIMIT: Final = 64
NODE_LIMIT: Final = 100_000

_SEPARATOR: Final = " "  # stands in no namespace and in no name


def from_xml(text: str | bytes, element: type[E], name: str = "domain") -> E:
    """The value that the text describes; the root must have the given name."""
    data = text.encode() if isinstance(text, str) else text
    if len(data) > SIZE_LIMIT:
        raise UnreadableXmlError(f"it has {len(data)} bytes, and {SIZE_LIMIT} are the most")
    root = _Tree().parse(data)
    namespace, local = _split(root.tag)
    if (namespace, local) != (element.namespace, name):
        raise UnreadableXmlError(f"the outermost element is not <{name}>")
    return _read(root, element)


class _Tree:
    """Collects nodes, and counts what could grow without end."""

    def __init__(self) -> None:
        self.builder = ET.TreeBuilder()
        self.depth = 0
        self.nodes = 0

    def parse(self, data: bytes) -> ET.Element:
        parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.builder.data
        parser.StartDoctypeDeclHandler = self.refuse_doctype
        try:
            parser.Parse(data, True)
        except expat.ExpatError as error:
            raise UnreadableXmlError(f"{error}") from None
        return self.builder.close()

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        self.nodes += 1
        if self.depth > DEPTH_LIMIT:
            raise UnreadableXmlError(f"it is nested deeper than {DEPTH_LIMIT} elements")
        if self.nodes > NODE_LIMIT:
            raise UnreadableXmlError(f"it has more than {NODE_LIMIT} elements")
        self.builder.start(tag, attributes)

    def end(self, tag: str) -> None:
        self.depth -= 1
        self.builder.end(tag)

    def refuse_doctype(self, *_: object) -> NoReturn:
        raise UnreadableXmlError("it declares a document type")


def _split(tag: str) -> tuple[str, str]:
    namespace, _, local = tag.rpartition(_SEPARATOR)
    return namespace, local


def _read(node: ET.Element, element: type[E]) -> E:
    shape = shape_of(element)
    values: dict[str, Any] = {}
    for attribute in shape.attributes:
        text = node.get(attribute.name)
        if text is not None:
            values[attribute.field] = _understood(attribute.value, text, node, attribute.name)
    if shape.text:
        values[shape.text.field] = _understood(shape.text.value, node.text or "", node)
    else:
        _read_parts(node, shape, values)
    _complain_about_missing(node, shape, values)
    return element(**values)


def _read_parts(node: ET.Element, shape: Shape, values: dict[str, Any]) -> None:
    repeated: dict[str, list[Any]] = {}
    for child in node:
        part = shape.part_named.get(_split(child.tag))
        match part:
            case None:
                continue
            case Present():
                values[part.field] = True
                continue
            case Leaf():
                value: Any = _understood(part.value, child.text or "", child)
            case Child():
                value = _read(child, part.type)
            case _:
                assert_never(part)
        if part.repeats:
            repeated.setdefault(part.field, []).append(value)
        elif part.field in values:
            raise UnreadableXmlError(f"<{part.name}> stands twice in <{_split(node.tag)[1]}>")
        else:
            values[part.field] = value
    values.update({field: tuple(found) for field, found in repeated.items()})


def _understood(value: Value, text: str, node: ET.Element, attribute: str = "") -> Any:
    try:
        return value.understand(text)
    except ValueError:
        place = f"<{_split(node.tag)[1]}> {attribute}".strip()
        raise UnreadableXmlError(f"the value of {place} is not of its kind") from None


def _complain_about_missing(node: ET.Element, shape: Shape, values: Mapping[str, Any]) -> None:
    for field, name in shape.required:
        if field not in values:
            raise UnreadableXmlError(f"<{_split(node.tag)[1]}> lacks {name}")
