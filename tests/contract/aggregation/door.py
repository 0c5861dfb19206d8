"""The server under test as any HTTP client sees it: bytes, headers and websockets, without a client library between."""

import base64
import ssl
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import yaml


class Door:
    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self.session = session
        self.url = url

    def request(self, method: str, path: str, **more: Any) -> Any:
        return self.session.request(method, f"{self.url}{path}", allow_redirects=False, **more)

    def get(self, path: str, **more: Any) -> Any:
        return self.request("GET", path, **more)

    async def json(self, path: str, **more: Any) -> Any:
        async with self.get(path, **more) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json(content_type=None)

    def websocket(self, path: str, **more: Any) -> Any:
        return self.session.ws_connect(f"{self.url}{path}", **more)


@asynccontextmanager
async def opened(kubeconfig: Path) -> AsyncIterator[Door]:
    """With the certificate of a kubeconfig."""
    url, context = _read(kubeconfig)
    connector = aiohttp.TCPConnector(ssl=context)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield Door(session, url)


def _read(kubeconfig: Path) -> tuple[str, ssl.SSLContext]:
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    made = _trusting(cluster)
    with tempfile.NamedTemporaryFile(prefix="aggregation-") as pair:
        for name in ("client-certificate-data", "client-key-data"):
            pair.write(base64.b64decode(user[name]))
        pair.flush()
        made.load_cert_chain(pair.name)
    return cluster["server"], made


def context(kubeconfig: Path, certificate: Path, key: Path) -> ssl.SSLContext:
    """For the server of a kubeconfig, with another certificate than its own."""
    made = _trusting(yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"])
    made.load_cert_chain(certificate, key)
    return made


def _trusting(cluster: dict[str, str]) -> ssl.SSLContext:
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    return ssl.create_default_context(cadata=authority)
