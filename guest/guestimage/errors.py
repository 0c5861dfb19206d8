"""What can go wrong, said once: what, why it matters, the way out; never a stack trace."""

from collections.abc import Sequence


class GuestError(Exception):
    """Anything a person can act upon; the command line prints it and ends with a code."""


class ToolFailed(GuestError):  # noqa: N818  # what is the case, not that it is an error
    """A program of the build failed; its last words are part of the message."""

    def __init__(self, argv: Sequence[str], code: int, last_words: Sequence[str]) -> None:
        said = "\n  ".join(last_words) or "nothing"
        super().__init__(
            f"`{' '.join(argv[:4])}` ended with code {code}; its last words:\n  {said}"
        )


class ToolMissing(GuestError):  # noqa: N818
    def __init__(self, program: str) -> None:
        super().__init__(
            f"{program} is not installed and the guest cannot be built without it; run `make bootstrap`"
        )
