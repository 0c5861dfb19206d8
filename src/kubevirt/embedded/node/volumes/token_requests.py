"""Tokens of service accounts, asked for in the name of a pod and kept until they are due.

They are bound to the pod: when it is gone they open nothing. A new process asks for new ones; the old ones
stay good until their own end.
"""

from datetime import UTC, datetime
from typing import Final

import msgspec

from kubevirt.api.core.pod import Pod
from kubevirt.api.scheme import SERVICE_ACCOUNTS
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.base.log import get_logger
from kubevirt.embedded.node.volumes import token
from kubevirt.embedded.node.volumes.contents import NotThere
from kubevirt.embedded.objects.pods import spec_of
from kubevirt.kube.client import Client

log = get_logger(__name__)

_AGAIN_S: Final = 30.0
"""After a renewal that failed, while the token that is there is still good."""


class _Status(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    token: str
    expiration_timestamp: datetime


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    status: _Status


class _Held(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    renew_at: float
    good_until: float

    def __repr__(self) -> str:
        return "_Held(…)"  # a token has no place in a log


class TokenRequests:
    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._held: dict[str, dict[token.Wanted, _Held]] = {}

    async def current(self, pod: Pod) -> dict[tuple[str, str], str]:
        """All that the pod wants, by volume and path; those that are due anew."""
        held = self._held.setdefault(pod.metadata.uid, {})
        for each in token.wanted(pod):
            held[each] = await self._fresh(pod, each, held.get(each))
        return {(each.volume, each.path): found.text for each, found in held.items()}

    def next_s(self, uid: str) -> float | None:
        """How long until one of the pod's is due; None if it has none."""
        held = self._held.get(uid)
        if not held:
            return None
        return max(0.0, min(each.renew_at for each in held.values()) - self._clock.monotonic())

    def forget(self, uid: str) -> None:
        self._held.pop(uid, None)

    async def _fresh(self, pod: Pod, wanted: token.Wanted, held: _Held | None) -> _Held:
        now = self._clock.monotonic()
        if held is not None and now < held.renew_at:
            return held
        try:
            return await self._ask(pod, wanted)
        except KubevirtError as error:
            if held is None or now >= held.good_until:
                account = spec_of(pod).service_account_name
                raise NotThere(
                    f"failed to fetch token: cannot get one for serviceaccount {account}: {error}"
                ) from error
            log.warning("token not renewed yet", pod=pod.metadata.name, error=error)
            return msgspec.structs.replace(held, renew_at=now + _AGAIN_S)

    async def _ask(self, pod: Pod, wanted: token.Wanted) -> _Held:
        metadata, began = pod.metadata, self._clock.monotonic()
        account = spec_of(pod).service_account_name or "default"
        answer = await self._client.raw(
            "POST",
            SERVICE_ACCOUNTS.path(metadata.namespace, account, "token"),
            {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": {
                    "audiences": [wanted.audience] if wanted.audience else [],
                    "expirationSeconds": wanted.life_s,
                    "boundObjectRef": {
                        "apiVersion": "v1",
                        "kind": "Pod",
                        "name": metadata.name,
                        "uid": metadata.uid,
                    },
                },
            },
        )
        status = msgspec.json.decode(answer, type=_Answer).status
        # Deadlines are of the clock that never jumps: what counts is how long it is good from now.
        now = self._clock.now().astimezone(UTC)
        life = status.expiration_timestamp - now
        renewed = token.renew_at(now, status.expiration_timestamp) - now
        return _Held(
            text=status.token,
            renew_at=began + renewed.total_seconds(),
            good_until=began + life.total_seconds(),
        )
