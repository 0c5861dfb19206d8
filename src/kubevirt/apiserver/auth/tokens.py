"""Tokens of service accounts: signed, for an audience, for a while, and only as long as what they are bound to lives.

A token that is stolen is good until the first of these ends. So it is not enough that the signature is right: the
account, and the pod or secret or node that the token is bound to, must still be there, the same ones.

The signature of a token is checked once; what was found is remembered by the token's hash. Whether all
still live is asked anew every few seconds.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol

import jwt
import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from kubevirt.apiserver.auth.credentials import BadCredentials
from kubevirt.apiserver.auth.names import (
    CREDENTIAL_ID,
    NODE_NAME,
    NODE_UID,
    POD_NAME,
    POD_UID,
    service_account_groups,
    service_account_user,
)
from kubevirt.apiserver.auth.rbac.rules import listed
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.base.clock import Clock

_ALGORITHM: Final = "ES256"
_LEEWAY: Final = timedelta(minutes=1)
"""For clocks that do not quite agree, and for things that are being deleted; as Kubernetes has it."""
UNKNOWN: Final = "invalid bearer token"
"""Said of a token that nobody here has signed."""
_GONE: Final = "service account token has been invalidated"


Object = Mapping[str, Any]


class Ref(msgspec.Struct, frozen=True):
    name: str = ""
    uid: str = ""


class Bound(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a token is for, and what it ends with."""

    namespace: str = ""
    serviceaccount: Ref = Ref()
    pod: Ref | None = None
    secret: Ref | None = None
    node: Ref | None = None


class Claims(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What stands in a token."""

    iss: str = ""
    sub: str = ""
    aud: tuple[str, ...] = ()
    iat: int = 0
    nbf: int = 0
    exp: int = 0
    jti: str = ""
    kubernetes: Bound = msgspec.field(name="kubernetes.io", default=Bound())

    @property
    def identity(self) -> Identity:
        bound = self.kubernetes
        extra = {CREDENTIAL_ID: (f"JTI={self.jti}",)} if self.jti else {}
        if bound.pod:
            extra |= {POD_NAME: (bound.pod.name,), POD_UID: (bound.pod.uid,)}
        if bound.node:
            extra[NODE_NAME] = (bound.node.name,)
            if bound.node.uid:
                extra[NODE_UID] = (bound.node.uid,)
        account = bound.serviceaccount
        return Identity(
            user=service_account_user(bound.namespace, account.name),
            uid=account.uid,
            groups=service_account_groups(bound.namespace),
            extra=extra,
        )


class Objects(Protocol):
    """A port to what is stored of the kinds without a group."""

    async def get(self, resource: str, namespace: str, name: str) -> Object | None: ...


class Verified(msgspec.Struct, frozen=True):
    identity: Identity
    audiences: tuple[str, ...]
    """Of those that were asked for, the ones that the token is for."""


class TokenSettings(msgspec.Struct, frozen=True, kw_only=True):
    issuer: str = "https://kubernetes.default.svc.cluster.local"
    audiences: tuple[str, ...] = ()
    """Who we are to a token that is shown to us; the issuer if nothing is said."""
    believed_s: float = 10
    """Seconds between two looks whether what a token is bound to still lives; as Kubernetes has it."""
    remembered: int = 4096
    """Tokens whose signature is not checked again; more begin anew."""

    @property
    def own_audiences(self) -> tuple[str, ...]:
        return self.audiences or (self.issuer,)


class TokenKey:
    """A key that signs tokens, and its public half that verifies them."""

    def __init__(self, pem: bytes) -> None:
        key = serialization.load_pem_private_key(pem, password=None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise TypeError("tokens are signed with an elliptic-curve key")
        self._key = key
        self.public = key.public_key()
        der = self.public.public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        digest = hashlib.sha256(der).digest()
        self.id = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    def sign(self, claims: Claims) -> str:
        payload: dict[str, Any] = msgspec.to_builtins(claims)
        # A list, whatever its length: Go's readers accept either, others do not.
        payload["aud"] = list(claims.aud)
        return jwt.encode(payload, self._key, algorithm=_ALGORITHM, headers={"kid": self.id})


class _Known(msgspec.Struct):
    claims: Claims
    believed_until: float = float("-inf")


class Tokens:
    """Verifies what `TokenKey` signed. The first key signs; those behind it were used before."""

    def __init__(
        self, keys: Sequence[TokenKey], settings: TokenSettings, objects: Objects, clock: Clock
    ) -> None:
        self._keys = {key.id: key for key in keys}
        self._settings = settings
        self._objects = objects
        self._clock = clock
        self._known: dict[bytes, _Known] = {}

    async def verify(self, token: str, audiences: Sequence[str] = ()) -> Verified:
        """Raises `BadCredentials` with Kubernetes' words. `audiences` are ours if none are given."""
        digest = hashlib.sha256(token.encode(errors="surrogatepass")).digest()
        known = self._known.get(digest)
        if known is None:
            known = _Known(self._read(token))
            if len(self._known) >= self._settings.remembered:
                self._known.clear()
            self._known[digest] = known
        claims = known.claims
        meant = _for_whom(claims, audiences or self._settings.own_audiences)
        now = self._clock.now()
        _check_times(claims, now)
        if self._clock.monotonic() >= known.believed_until:
            await self._check_life(claims.kubernetes, now)
            known.believed_until = self._clock.monotonic() + self._settings.believed_s
        return Verified(claims.identity, meant)

    def _read(self, token: str) -> Claims:
        try:
            header = jwt.get_unverified_header(token)
            key = self._keys.get(header.get("kid", ""))
            if key is None:
                raise BadCredentials(UNKNOWN)
            # Times and audiences are checked by us, by a clock that is handed in.
            payload = jwt.decode(
                token,
                key.public,
                algorithms=[_ALGORITHM],
                options={
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                    "verify_aud": False,
                    "verify_iss": False,
                    "verify_sub": False,
                    "verify_jti": False,
                },
            )
            if isinstance(payload.get("aud"), str):
                payload["aud"] = [payload["aud"]]
            claims = msgspec.convert(payload, Claims)
        except jwt.InvalidSignatureError:
            raise BadCredentials("the signature is not right") from None
        except (jwt.InvalidTokenError, msgspec.ValidationError, ValueError):
            raise BadCredentials(UNKNOWN) from None
        if claims.iss != self._settings.issuer:
            raise BadCredentials(UNKNOWN)
        return claims

    async def _check_life(self, bound: Bound, now: datetime) -> None:
        account = bound.serviceaccount
        found = await self._objects.get("serviceaccounts", bound.namespace, account.name)
        if found is None:
            raise BadCredentials(f'serviceaccounts "{account.name}" not found')
        if (uid := found["metadata"]["uid"]) != account.uid:
            raise BadCredentials(
                f"service account UID ({uid}) does not match claim ({account.uid})"
            )
        if _is_gone(found, now):
            raise BadCredentials(
                f"service account {bound.namespace}/{account.name} has been deleted"
            )
        if bound.secret:
            await self._check_bound("secret", bound.namespace, bound.secret, now)
        if bound.pod:
            await self._check_bound("pod", bound.namespace, bound.pod, now)
        elif bound.node:
            await self._check_bound("node", "", bound.node, now)

    async def _check_bound(self, kind: str, namespace: str, ref: Ref, now: datetime) -> None:
        found = await self._objects.get(f"{kind}s", namespace, ref.name)
        if found is None:
            raise BadCredentials(_GONE)
        if (uid := found["metadata"]["uid"]) != ref.uid:
            raise BadCredentials(
                f"{kind} UID ({uid}) does not match service account {kind} ref claim ({ref.uid})"
            )
        if _is_gone(found, now):
            raise BadCredentials(_GONE)


def _for_whom(claims: Claims, wanted: Sequence[str]) -> tuple[str, ...]:
    meant = tuple(each for each in claims.aud if each in wanted)
    if not meant:
        raise BadCredentials(
            f"token audiences {listed(claims.aud)} is invalid for the target audiences {listed(wanted)}"
        )
    return meant


def _check_times(claims: Claims, now: datetime) -> None:
    if now - _LEEWAY > _moment(claims.exp):
        raise BadCredentials("service account token has expired")
    if now + _LEEWAY < _moment(claims.nbf):
        raise BadCredentials("service account token is not valid yet")
    if now + _LEEWAY < _moment(claims.iat):
        raise BadCredentials("service account token is issued in the future")


def _moment(seconds: int) -> datetime:
    """However far away; a token may say anything that was signed."""
    return datetime.fromtimestamp(min(max(seconds, 0), 1 << 37), UTC)


def _is_gone(found: Object, now: datetime) -> bool:
    deleted_at = found["metadata"].get("deletionTimestamp")
    return deleted_at is not None and datetime.fromisoformat(deleted_at) < now - _LEEWAY
