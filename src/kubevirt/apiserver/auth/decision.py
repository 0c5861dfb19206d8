"""The answer to "may they?", and how a no is said."""

import msgspec

from kubevirt.api.meta import StatusDetails
from kubevirt.apiserver.http.asked import Asked
from kubevirt.apiserver.refusals import Refusal, refusal
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.apiserver.schema.gotext import quoted


class Decision(msgspec.Struct, frozen=True):
    """Nothing is ever denied for good: whom nobody allows is refused."""

    allowed: bool
    reason: str = ""
    """Which binding allows it, or what stood in the way. Part of the answer."""


ALLOWED = Decision(allowed=True)
NO_OPINION = Decision(allowed=False)

_UNLIKE_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def forbidden(asked: Asked, identity: Identity, reason: str = "") -> Refusal:
    """403, with the words that people search for."""
    cause = _what(asked, identity.user).translate(_UNLIKE_HTML)
    if reason:
        cause = f"{cause}: {reason}"
    about = f"{asked.resource}.{asked.group}" if asked.group else asked.resource
    if asked.name:
        about = f"{about} {quoted(asked.name)}"
    details = StatusDetails(name=asked.name, group=asked.group, kind=asked.resource)
    message = f"{about} is forbidden: {cause}" if about else f"forbidden: {cause}"
    return refusal(403, "Forbidden", message, details=details)


def _what(asked: Asked, user: str) -> str:
    who = f"User {quoted(user)} cannot {asked.verb}"
    if not asked.is_resource:
        return f"{who} path {quoted(asked.path)}"
    resource = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    what = f"{who} resource {quoted(resource)} in API group {quoted(asked.group)}"
    if asked.namespace:
        return f"{what} in the namespace {quoted(asked.namespace)}"
    return f"{what} at the cluster scope"
