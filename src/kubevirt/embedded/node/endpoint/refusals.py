"""A no of the endpoint: a code of HTTP and a sentence, as a kubelet says it."""

from kubevirt.base.errors import UserError


class NotServed(UserError):  # noqa: N818  # it is an answer
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message, reason="NotServed")
        self.code = code
        self.message = message
