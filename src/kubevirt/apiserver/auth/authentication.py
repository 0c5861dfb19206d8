"""Who asks: whatever a client shows, in Kubernetes' order; the first that says who it is wins.

A front proxy's word, a client certificate, a bearer token. Whoever shows nothing is anonymous; whoever shows
something and is not let in by any of it gets 401, never less: a client with an expired token shall notice.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from kubevirt.apiserver.auth import impersonation
from kubevirt.apiserver.auth.authorization import Authorization
from kubevirt.apiserver.auth.certificates import ClientCertificates
from kubevirt.apiserver.auth.credentials import BadCredentials, Credentials
from kubevirt.apiserver.auth.front_proxy import FrontProxy
from kubevirt.apiserver.auth.names import ANONYMOUS_USER, AUTHENTICATED, UNAUTHENTICATED
from kubevirt.apiserver.auth.tokens import Tokens, Verified
from kubevirt.apiserver.refusals import unauthorized
from kubevirt.apiserver.registry.identity import ANONYMOUS, Identity
from kubevirt.base.clock import Clock
from kubevirt.base.log import get_logger

log = get_logger(__name__)


class Caller(msgspec.Struct, frozen=True):
    """Who it is, and as whom they act."""

    real: Identity
    acting: Identity

    @property
    def is_impersonating(self) -> bool:
        return self.real is not self.acting


class Authentication:
    def __init__(
        self,
        *,
        clock: Clock,
        certificates: ClientCertificates,
        tokens: Tokens,
        front_proxy: FrontProxy | None = None,
        known_tokens: Mapping[str, Identity] | None = None,
    ) -> None:
        """`known_tokens` are good as they are; their hashes are kept, not they."""
        self._clock = clock
        self._certificates = certificates
        self._tokens = tokens
        self._front_proxy = front_proxy
        self._known = {_hash(token): each for token, each in (known_tokens or {}).items()}

    async def identify(self, credentials: Credentials) -> Identity:
        """Raises a Refusal (401) for credentials that are no good."""
        problems: list[str] = []
        now = self._clock.now()
        for look in (self._by_front_proxy, self._by_certificate):
            try:
                found = look(credentials, now)
            except BadCredentials as error:
                problems.append(str(error))
            else:
                if found is not None:
                    return authenticated(found)
        try:
            if token := credentials.token:
                return authenticated((await self._verified(token)).identity)
        except BadCredentials as error:
            problems.append(str(error))
        if problems:
            log.info("credentials refused", problems=problems)
            raise unauthorized()
        return ANONYMOUS

    def _by_front_proxy(self, credentials: Credentials, now: datetime) -> Identity | None:
        return self._front_proxy.identify(credentials, now) if self._front_proxy else None

    def _by_certificate(self, credentials: Credentials, now: datetime) -> Identity | None:
        if not credentials.certificate:
            return None
        return self._certificates.verify(credentials.certificate, now).identity

    async def _verified(self, token: str, audiences: Sequence[str] = ()) -> Verified:
        known = self._known.get(_hash(token)) if self._known else None
        if known is not None:
            return Verified(known, tuple(audiences))
        return await self._tokens.verify(token, audiences)

    async def verify_token(self, token: str, audiences: Sequence[str] = ()) -> Verified:
        """For a TokenReview. Raises `BadCredentials`."""
        verified = await self._verified(token, audiences)
        return Verified(authenticated(verified.identity), verified.audiences)

    async def admit(self, credentials: Credentials, authorization: Authorization) -> Caller:
        """Who asks, as whom: acting as another is allowed or refused (403) part by part."""
        real = await self.identify(credentials)
        wanted = impersonation.wanted(credentials.headers)
        if wanted is None:
            return Caller(real, real)
        for asked in wanted.checks:
            authorization.check(asked, real)
        return Caller(real, wanted.identity)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()


def authenticated(identity: Identity) -> Identity:
    """With the group of all who are known."""
    if identity.user == ANONYMOUS_USER or AUTHENTICATED in identity.groups:
        return identity
    if UNAUTHENTICATED in identity.groups:
        return identity
    return msgspec.structs.replace(identity, groups=(*identity.groups, AUTHENTICATED))
