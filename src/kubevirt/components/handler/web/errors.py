"""What a caller is told when something cannot be done: a code of HTTP and a sentence."""

from kubevirt.base.errors import Retry, UserError


class Denied(UserError):  # noqa: N818  # it is our word to the caller
    """`code` is one of HTTP."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message, reason="Denied")
        self.code = code


def code_of(error: Exception) -> int:
    match error:
        case Denied(code=code):
            return code
        case Retry():
            return 503
        case _:
            return 500
