"""An API server as a home has it, with roles, for tests of those who ask it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from kubevirt.apiserver.auth.access import AccessSettings
from kubevirt.apiserver.auth.authority import signing_key
from kubevirt.apiserver.http.access import AUTHENTICATED
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.apiserver.server import ADMINISTRATOR, ServerSettings, serving
from kubevirt.kube.access.config import Config
from kubevirt.kube.access.credentials import HeldCredentials
from kubevirt.kube.access.material import Inline
from kubevirt.kube.client import Client

NODE = "n1"
_NODE_IDENTITY = Identity(user=f"system:node:{NODE}", groups=("system:nodes", AUTHENTICATED))


class HomeServer:
    def __init__(self, url: str) -> None:
        self._url = url

    def client(self, who: str = "admin") -> Client:
        """`admin`, or `node`."""
        token = HeldCredentials(token=Inline(who.encode(), "token"))
        return Client(Config(server=self._url, credentials=token))


@asynccontextmanager
async def home_server(folder: Path) -> AsyncIterator[HomeServer]:
    settings = ServerSettings(
        data=folder / "store.db",
        access=AccessSettings(
            signing_key=signing_key(),
            known_tokens={"admin": ADMINISTRATOR, "node": _NODE_IDENTITY},
        ),
    )
    async with serving(settings) as server:
        yield HomeServer(server.url)


def a_pod_spec(**spec: Any) -> dict[str, Any]:
    return {"containers": [{"name": "main", "image": "tool"}], **spec}
