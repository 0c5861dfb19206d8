"""Why a value cannot be written as XML, or a text cannot be read as one.

UserError
└── XmlError
    ├── UnfitTextError      a value holds a character that XML cannot carry
    └── UnreadableXmlError  a text that is no such document, or one that nobody should open
"""

from kubevirt.base.errors import UserError


class XmlError(UserError):
    """Root of both directions."""


class UnfitTextError(XmlError):
    """Escaping cannot help: XML has no spelling for most control characters."""

    def __init__(self, place: str, character: str) -> None:
        super().__init__(
            f"the value of {place} holds the character U+{ord(character):04X}, which XML cannot "
            f"carry; remove it from the manifest",
            reason="InvalidCharacter",
        )


class UnreadableXmlError(XmlError):
    """The reason is shown to whoever sent the text, so it never repeats the text itself."""

    def __init__(self, cause: str) -> None:
        super().__init__(f"the XML cannot be read: {cause}", reason="UnreadableXml")
