"""How others know that it is us: what we trust and show, published where every aggregated API looks.

They learn here by whom our certificate is signed and which name it has, and believe what we say about
who asks. The same ConfigMap tells them who signs the certificates of users.
"""

from typing import Any, Final

import msgspec

from kubevirt.apiserver.aggregation.following import followed
from kubevirt.apiserver.aggregation.writing import OwnWrites
from kubevirt.apiserver.auth.access import AccessSettings
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.base.errors import Retry
from kubevirt.base.log import get_logger

log = get_logger(__name__)

NAMESPACE: Final = "kube-system"
NAME: Final = "extension-apiserver-authentication"


def published(settings: AccessSettings) -> dict[str, str]:
    """The data of the ConfigMap."""
    found = {}
    if settings.client_authorities:
        found["client-ca-file"] = b"".join(settings.client_authorities).decode()
    if settings.front_proxy_authorities:
        proxy = settings.front_proxy
        found |= {
            "requestheader-allowed-names": _list(*proxy.allowed_names),
            "requestheader-client-ca-file": b"".join(settings.front_proxy_authorities).decode(),
            "requestheader-extra-headers-prefix": _list(proxy.extra_prefix),
            "requestheader-group-headers": _list(proxy.group_header),
            "requestheader-uid-headers": _list(proxy.uid_header),
            "requestheader-username-headers": _list(proxy.user_header),
        }
    return found


def _list(*values: str) -> str:
    return msgspec.json.encode(values).decode()


class IdentityPublisher:
    def __init__(self, registry: Registry, settings: AccessSettings) -> None:
        kind = registry.catalog.kind("", "configmaps")
        self._key = kind.key(NAMESPACE, NAME)
        self._store = registry.store
        self._writes = OwnWrites(registry, kind)
        self._data = published(settings)

    async def run(self) -> None:
        async for changes in followed(self._store, self._key):
            del changes  # what is there now counts
            try:
                await self._publish()
            except (Refusal, Retry) as error:  # its next change comes by again
                log.info("our identity was not published", error=error)

    async def _publish(self) -> None:
        entry = await self._store.get(self._key)
        if entry is None:
            metadata = {"name": NAME, "namespace": NAMESPACE}
            await self._writes.create({"metadata": metadata, "data": self._data})
            return
        object_: dict[str, Any] = self._writes.read(entry)
        if object_.get("data") != self._data:
            await self._writes.change({**object_, "data": self._data}, entry)
