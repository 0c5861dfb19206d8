"""All of this package put together for one server.

access = Access(settings, store, catalog, clock)
registry = Registry(…, admission=Admission([*access.steps, …]))
await access.attach(registry)          # before the first request
async with background(access.run()):   # as long as the server lives
    …  access.authentication, access.authorization
"""

from collections.abc import Mapping

import msgspec

from kubevirt.apiserver.auth.admission import NodeRestriction, NoEscalation
from kubevirt.apiserver.auth.answering import AccessAnswers
from kubevirt.apiserver.auth.authentication import Authentication
from kubevirt.apiserver.auth.authorization import Authorization
from kubevirt.apiserver.auth.certificates import ClientCertificates
from kubevirt.apiserver.auth.front_proxy import FrontProxy, FrontProxySettings
from kubevirt.apiserver.auth.keeping import AccessKeeper
from kubevirt.apiserver.auth.stored_objects import StoredObjects
from kubevirt.apiserver.auth.token_requests import TokenIssuer
from kubevirt.apiserver.auth.tokens import TokenKey, Tokens, TokenSettings
from kubevirt.apiserver.kinds.catalog import Catalog
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.storage.store import Store
from kubevirt.base.clock import Clock


class AccessSettings(msgspec.Struct, frozen=True, kw_only=True):
    signing_key: bytes
    """Of tokens, PEM."""
    client_authorities: tuple[bytes, ...] = ()
    """Who signs client certificates, PEM."""
    front_proxy_authorities: tuple[bytes, ...] = ()
    """Who signs those of proxies, PEM; none means that no proxy is believed."""
    front_proxy: FrontProxySettings = FrontProxySettings()
    tokens: TokenSettings = TokenSettings()
    known_tokens: Mapping[str, Identity] = {}
    """Tokens that are good as they are, such as an administrator's own."""

    def __repr__(self) -> str:
        return "AccessSettings(…)"  # keys and tokens have no place in a log


class Access:
    def __init__(
        self, settings: AccessSettings, store: Store, catalog: Catalog, clock: Clock
    ) -> None:
        objects = StoredObjects(store, catalog)
        key = TokenKey(settings.signing_key)
        self.authorization = Authorization()
        self.authentication = Authentication(
            clock=clock,
            certificates=ClientCertificates(settings.client_authorities),
            tokens=Tokens([key], settings.tokens, objects, clock),
            front_proxy=_front_proxy(settings),
            known_tokens=settings.known_tokens,
        )
        self.steps = (NodeRestriction(objects), NoEscalation(self.authorization))
        self._issuer = TokenIssuer(key, settings.tokens, objects, clock)
        self._keeper: AccessKeeper | None = None

    async def attach(self, registry: Registry) -> None:
        """Learns what is stored, and answers for its own endpoints."""
        AccessAnswers(registry, self.authentication, self.authorization, self._issuer).register()
        self._keeper = AccessKeeper(registry, self.authorization)
        await self._keeper.load()

    async def run(self) -> None:
        if self._keeper is None:
            raise AssertionError("attach comes first")
        await self._keeper.run()


def _front_proxy(settings: AccessSettings) -> FrontProxy | None:
    if not settings.front_proxy_authorities:
        return None
    return FrontProxy(ClientCertificates(settings.front_proxy_authorities), settings.front_proxy)
