"""Answers that everybody gets: what is served, which version this is, and whether all is well."""

import hashlib
import platform
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import msgspec
from aiohttp import web

from kubevirt.base.errors import KubevirtError
from kubevirt.base.semantic_version import VERSION
from kubevirt.components.virtapi import answers, description, open_api
from kubevirt.components.virtapi.parts import Parts
from kubevirt.kube.metrics import CONTENT_TYPE
from kubevirt.virt.commands.calls import GROUP, VERSIONS
from kubevirt.virt.commands.refusal import not_allowed, not_built

Json = dict[str, Any]

ROOT: Final = f"/apis/{GROUP}"
AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_NO_GUESTFS: Final = "virtctl guestfs; there is no image of libguestfs-tools to name"

DOCUMENTS: Final[Mapping[str, Callable[[], Json]]] = {
    "/": description.roots,
    "/apis": description.groups,
    ROOT: description.group,
    **{f"{ROOT}/{each}": partial(description.resources, each) for each in VERSIONS},
    "/openapi/v2": open_api.v2,
    "/openapi/v3": open_api.v3_index,
    **{f"/openapi/v3{ROOT}/{each}": partial(open_api.v3, each) for each in VERSIONS},
}


class Discovery:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._pages: Mapping[str, Callable[[], web.Response]] = {
            "/healthz": self._health,
            "/readyz": self._health,
            "/metrics": self._metrics,
            **{f"{ROOT}/{each}/version": _version for each in VERSIONS},
            **{f"{ROOT}/{each}/guestfs": _guestfs for each in VERSIONS},
        }
        self._deep = frozenset(f"{ROOT}/{each}/healthz" for each in VERSIONS)

    def knows(self, path: str) -> bool:
        return path in DOCUMENTS or path in self._pages or path in self._deep

    async def answer(self, request: web.BaseRequest) -> web.Response:
        if request.method not in ("GET", "HEAD"):
            raise not_allowed(request.method)
        if request.path in self._deep:
            return await self._deep_health()
        if page := self._pages.get(request.path):
            return page()
        if request.path == "/apis" and "as=APIGroupDiscoveryList" in _accepted(request):
            return _document(request, description.aggregated(), AGGREGATED)
        return _document(request, DOCUMENTS[request.path]())

    def _health(self) -> web.Response:
        trouble = self._parts.health.trouble
        return web.Response(text=trouble or "ok", status=500 if trouble else 200)

    def _metrics(self) -> web.Response:
        return web.Response(body=self._parts.metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    async def _deep_health(self) -> web.Response:
        """Whether we reach the API server."""
        try:
            found = msgspec.json.decode(await self._parts.client.raw("GET", "/version"))
        except (KubevirtError, msgspec.DecodeError) as error:
            said = {"connectivity": "failed", "error": str(error)}
            return answers.json({"apiserver": said}, code=500)
        said = {"connectivity": "ok", "version": str(found.get("gitVersion", ""))}
        return answers.json({"apiserver": said})


def _accepted(request: web.BaseRequest) -> str:
    """Of version 2, which is the only one here."""
    wanted = request.headers.get("Accept", "").replace(" ", "").split(",")
    return next((each for each in wanted if "v=v2" in each.split(";")), "")


def _document(request: web.BaseRequest, document: Json, media: str = answers.JSON) -> web.Response:
    body = msgspec.json.encode(document)
    etag = f'"{hashlib.sha256(body).hexdigest().upper()}"'
    headers = {"Content-Type": media, "ETag": etag, "Vary": "Accept"}
    if etag in request.headers.get("If-None-Match", ""):
        return web.Response(status=304, headers=headers)
    return web.Response(body=body, headers=headers)


def _version() -> web.Response:
    """In the form of Kubernetes' own; `virtctl version` and others read it."""
    return answers.json(
        {
            # Upstream's virtctl holds it against its own after each error, and complains of one it cannot read.
            "gitVersion": VERSION,
            "gitCommit": "",
            "gitTreeState": "clean",
            "buildDate": "",
            "goVersion": f"python{platform.python_version()}",
            "compiler": sys.implementation.name,
            "platform": f"linux/{_machine()}",
        }
    )


def _machine() -> str:
    found = platform.machine()
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(found, found)


def _guestfs() -> web.Response:
    raise not_built(_NO_GUESTFS)
