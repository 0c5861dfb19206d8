"""Registries on loopback: Debian's own, and one that does to us what strangers do."""

import asyncio
import contextlib
import io
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import aiohttp
from aiohttp import web
from tests.component.host.images import Image

from kubevirt.base import commands
from kubevirt.host.oci.authorization import Credentials

USER, PASSWORD = "guest", "open sesame"
_HASH = "$2b$04$kl6SQizfI2iJMPlN18nKa.9.LAzvFV12HOMg7CoqFX.FBJUswd6Z2"
"""The password as docker-registry wants it: bcrypt."""

_KNOWN = {"Authorization": Credentials(user=USER, password=PASSWORD).header()}

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.asynccontextmanager
async def docker_registry(folder: Path, *, protected: bool = False) -> AsyncIterator[str]:
    """A real registry with nothing in it; yields its URL."""
    port = free_port()
    settings: dict[str, object] = {
        "version": "0.1",
        "log": {"level": "error", "accesslog": {"disabled": True}},
        "storage": {"filesystem": {"rootdirectory": str(folder / "registry")}},
        "http": {"addr": f"127.0.0.1:{port}"},
    }
    if protected:
        users = folder / "htpasswd"
        _write(users, f"{USER}:{_HASH}\n")
        settings["auth"] = {"htpasswd": {"realm": "test", "path": str(users)}}
    _write(folder / "registry.json", json.dumps(settings))
    async with commands.spawn("docker-registry", "serve", folder / "registry.json"):
        await _listening(port)
        yield f"http://127.0.0.1:{port}"


def _write(path: Path, text: str) -> None:
    path.write_text(text)


async def _listening(port: int) -> None:
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(ConnectionError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                await writer.wait_closed()
                return
            await asyncio.sleep(0.02)


async def push(url: str, repository: str, image: Image, tag: str = "latest") -> None:
    """As clients do: each blob, then the manifest under its tag."""
    await push_blobs(url, repository, image)
    await push_manifest(url, repository, image.manifest, image.descriptor["mediaType"], tag)


async def push_blobs(url: str, repository: str, image: Image) -> None:
    async with aiohttp.ClientSession(headers=_KNOWN, raise_for_status=True) as session:
        for digest, data in image.blobs.items():
            if data == image.manifest:
                continue
            async with session.post(f"{url}/v2/{repository}/blobs/uploads/") as answer:
                place = answer.headers["Location"]
            joint = "&" if "?" in place else "?"
            async with session.put(f"{place}{joint}digest={digest}", data=io.BytesIO(data)):
                pass


async def push_manifest(url: str, repository: str, data: bytes, media_type: str, tag: str) -> None:
    headers = {**_KNOWN, "Content-Type": media_type}
    async with (
        aiohttp.ClientSession(headers=headers, raise_for_status=True) as session,
        session.put(f"{url}/v2/{repository}/manifests/{tag}", data=data),
    ):
        pass


@contextlib.asynccontextmanager
async def stranger(handler: Handler) -> AsyncIterator[str]:
    """A server that answers every request as the test says; yields its URL."""
    runner = web.ServerRunner(web.Server(handler), shutdown_timeout=0)
    await runner.setup()
    port = free_port()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await runner.cleanup()


class Served:
    """An honest registry of one image, to be bent by a test: it overrides what it wants."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self.asked: list[web.BaseRequest] = []

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.append(request)
        kind, name = request.path.rsplit("/", 2)[1:]
        if kind == "manifests":
            return self.manifest(name)
        return await self.blob(request, self.image.blobs[name])

    def manifest(self, name: str) -> web.StreamResponse:
        data = self.image.blobs.get(name, self.image.manifest)
        return web.Response(body=data, content_type=self.image.descriptor["mediaType"])

    async def blob(self, request: web.BaseRequest, data: bytes) -> web.StreamResponse:
        return web.Response(body=data)
