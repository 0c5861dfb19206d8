"""What can go wrong, said once: what, why it matters, the way out; never a stack trace.

```
GuestError            anything a person can act upon
├── MachineLacks      this machine has not what the build needs; tests skip for it
│   └── ToolMissing
└── ToolFailed        a program of the build failed
```
"""

from collections.abc import Sequence


class GuestError(Exception):
    """Anything a person can act upon; the command line prints it and ends with a code."""


class MachineLacks(GuestError):  # noqa: N818  # what is the case, not that it is an error
    """The build needs something that is not here: a program, a package, another system."""


class ToolMissing(MachineLacks):
    def __init__(self, program: str) -> None:
        super().__init__(
            f"{program} is not installed and the guest cannot be built without it; run `make bootstrap`"
        )


class ToolFailed(GuestError):  # noqa: N818
    """A program of the build failed; its last words are part of the message."""

    def __init__(
        self, argv: Sequence[str], code: int, last_words: Sequence[str], log: str = ""
    ) -> None:
        said = "\n  ".join(last_words) or "nothing"
        where = f"; all that it said is in {log}" if log else ""
        super().__init__(
            f"`{' '.join(argv[:4])}` ended with code {code}{where}; its last words:\n  {said}"
        )
