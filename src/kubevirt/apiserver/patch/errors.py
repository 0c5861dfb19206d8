"""Why a patch is refused."""

from kubevirt.base.errors import UserError


class BadPatch(UserError):  # noqa: N818  # it is what the patch is
    """A body that is no patch of its kind: 400."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="BadRequest")


class PatchDoesNotApply(UserError):  # noqa: N818  # it is what the patch does not
    """A patch that does not fit the object, a failed `test` among them: 422.

    Kubernetes never says which operation failed; what it says is `MESSAGE`. The reason is in the
    chained error, for logs.
    """

    MESSAGE = "the server rejected our request due to an error in our request"

    def __init__(self) -> None:
        super().__init__(self.MESSAGE)


class PatchTooLarge(UserError):  # noqa: N818  # it is what the patch is
    """More operations than the server is willing to run: 413."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="RequestEntityTooLarge")


class PatchFailed(UserError):  # noqa: N818  # it is what happened
    """A strategic merge that cannot be done, for which Kubernetes answers 500 without a reason."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="")
