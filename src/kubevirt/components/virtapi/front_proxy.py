"""Who the front proxy is, as the API server publishes it: followed while we run.

    async with following(client, clock) as published:
        published.authority      # a file with who signs for it, written anew when that changes
        published()              # its names and headers, or None while they are not known

The ConfigMap is the one that every aggregated API reads. Without it nobody is believed: that is the way to
fail.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.api.core.namespace import ConfigMap
from kubevirt.api.scheme import CONFIG_MAPS
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import background
from kubevirt.components.virtapi.identity import FrontProxy
from kubevirt.kube.cache.store import Change
from kubevirt.kube.informer import Informer
from kubevirt.kube.source import Source

log = get_logger(__name__)

NAMESPACE: Final = "kube-system"
NAME: Final = "extension-apiserver-authentication"
AUTHORITY: Final = "requestheader-client-ca-file"
PATIENCE_S: Final = 60.0


class Published:
    def __init__(self) -> None:
        # In memory: whoever is killed leaves nothing behind.
        self._file = os.memfd_create("front-proxy-ca")
        self.authority = Path(f"/proc/self/fd/{self._file}")
        self._proxy: FrontProxy | None = None

    def close(self) -> None:
        os.close(self._file)

    def __call__(self) -> FrontProxy | None:
        return self._proxy

    def heed(self, change: Change[ConfigMap]) -> None:
        found = change.new
        if found is None:
            self._proxy = None
            log.warning("the front proxy is not published any more; nobody is believed")
            return
        try:
            proxy = _read(found)
        except msgspec.DecodeError as error:
            self._proxy = None
            log.warning("what is published of the front proxy cannot be read", reason=str(error))
            return
        self._write(found.data[AUTHORITY].encode())
        self._proxy = proxy

    def _write(self, content: bytes) -> None:
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, content, 0)


def _read(found: ConfigMap) -> FrontProxy | None:
    data = found.data
    if not data.get(AUTHORITY, "").strip():
        raise msgspec.DecodeError(f"{NAME} has no {AUTHORITY}")
    default = FrontProxy()
    return FrontProxy(
        names=_list(data.get("requestheader-allowed-names", "")),
        user_headers=_list(data.get("requestheader-username-headers", "")) or default.user_headers,
        uid_headers=_list(data.get("requestheader-uid-headers", "")) or default.uid_headers,
        group_headers=_list(data.get("requestheader-group-headers", "")) or default.group_headers,
        extra_prefixes=_list(data.get("requestheader-extra-headers-prefix", ""))
        or default.extra_prefixes,
    )


def _list(text: str) -> tuple[str, ...]:
    return msgspec.json.decode(text or "[]", type=tuple[str, ...])


@asynccontextmanager
async def following(source: Source, clock: Clock) -> AsyncIterator[Published]:
    """Known from the first line of the body on. Raises `Retry` if the server does not say it in time."""
    maps = Informer(
        source,
        CONFIG_MAPS,
        clock=clock,
        namespace=NAMESPACE,
        field_selector=f"metadata.name={NAME}",
    )
    with closing(Published()) as published:
        maps.add_handler(published.heed)
        async with background(maps.run()):
            try:
                async with clock.timeout(PATIENCE_S):
                    await maps.wait_synced()
            except TimeoutError:
                raise _unknown(str(maps.last_error or "the server does not answer")) from None
            if published() is None:
                raise _unknown("it is not there, or names no authority")
            yield published


def _unknown(why: str) -> Retry:
    return Retry(
        f"ConfigMap {NAMESPACE}/{NAME}, which tells who may say who asks, could not be read: {why}; "
        "start the API server with --requestheader-client-ca-file, and let us read it"
    )
