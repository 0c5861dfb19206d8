"""What a client shows, and what is said to those who show something that is no good."""

import base64
import binascii
from typing import Final

import msgspec

from kubevirt.apiserver.auth.headers import Headers
from kubevirt.base.errors import KubevirtError

_WEBSOCKET_TOKEN: Final = "base64url.bearer.authorization.k8s.io."  # noqa: S105  # the name of a protocol


class BadCredentials(KubevirtError):  # noqa: N818  # it is what they are
    """Why, for the log and for a TokenReview. Whoever showed them is told "Unauthorized" and no more."""


class Credentials(msgspec.Struct, frozen=True, kw_only=True):
    certificate: bytes = b""
    """Of the TLS peer, DER; TLS has seen that the peer holds its key."""
    headers: Headers

    @property
    def token(self) -> str:
        """A bearer token: in its header or, from a browser's websocket, as a protocol."""
        scheme, _, rest = self.headers.first("Authorization").strip().partition(" ")
        if scheme.lower() == "bearer" and rest:
            return rest.split(" ", 1)[0]
        for line in self.headers.all("Sec-WebSocket-Protocol"):
            for protocol in line.split(","):
                if protocol.strip().startswith(_WEBSOCKET_TOKEN):
                    return _decoded(protocol.strip().removeprefix(_WEBSOCKET_TOKEN))
        return ""


def _decoded(text: str) -> str:
    padded = text + "=" * (-len(text) % 4)
    try:
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise BadCredentials("the token of a websocket is not base64url") from None
