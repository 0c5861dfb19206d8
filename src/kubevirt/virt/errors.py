"""Why a spec cannot become a guest. Each message names the thing, the cause and the way out.

UserError
└── SpecError                a value of the manifest that cannot be used
    ├── UnsupportedError     it has a meaning, but not here
    └── UnsafeNameError      a name that would leave its place in a path, a command or a file
"""

from kubevirt.base.errors import UserError


class SpecError(UserError):
    """Something in the manifest only its author can change."""

    def __init__(self, message: str, *, reason: str = "InvalidSpec") -> None:
        super().__init__(message, reason=reason)


class UnsupportedError(SpecError):
    """The platform lacks what was asked for."""

    def __init__(self, message: str, *, reason: str = "NotSupported") -> None:
        super().__init__(message, reason=reason)


class UnsafeNameError(SpecError):
    """A name is used in paths and identifiers, so it has an alphabet."""

    def __init__(self, thing: str, name: str) -> None:
        super().__init__(
            f"the {thing} {shown(name)} cannot be used as a name; "
            f"use letters, digits, dashes, dots and underscores, a letter or digit first",
            reason="InvalidName",
        )


def shown(value: object) -> str:
    """A value from outside inside a sentence: quoted, shortened, control characters escaped."""
    text = str(value)
    return repr(text if len(text) <= 80 else f"{text[:77]}...")
