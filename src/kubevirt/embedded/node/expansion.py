"""`$(NAME)` in commands, arguments and variables. `$$` is a dollar; what has no value stays as it is."""

import re
from collections.abc import Mapping
from typing import Final

_REFERENCE: Final = re.compile(r"\$(?:\$|\(([^)]*)\))")


def expand(text: str, *sources: Mapping[str, str]) -> str:
    """The first source that has the name counts. What is put in is not looked at again."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name is None:
            return "$"
        return next((source[name] for source in sources if name in source), found[0])

    return _REFERENCE.sub(value, text)
