"""What went wrong for an object, until it goes well: decisions take it into what they tell of it."""

from kubevirt.base.errors import UserError
from kubevirt.kube.key import Key
from kubevirt.virt.happening import Failure


class CarryingOutFailed(UserError):  # noqa: N818  # it says what happened
    """An action was refused. Its failure has a word and a sentence for the object's conditions."""

    def __init__(self, failure: Failure, cause: UserError) -> None:
        super().__init__(failure.message, reason=failure.reason)
        self.failure = failure
        self.cause = cause
        """As it was raised: it says whether trying again may help."""


class Failures:
    def __init__(self) -> None:
        self._known: dict[Key, tuple[str, Failure]] = {}

    def of(self, key: Key, uid: str) -> Failure | None:
        """Another object of that name has not failed."""
        known = self._known.get(key)
        return known[1] if known and known[0] == uid else None

    def put(self, key: Key, uid: str, failure: Failure) -> None:
        self._known[key] = (uid, failure)

    def forget(self, key: Key) -> None:
        self._known.pop(key, None)
