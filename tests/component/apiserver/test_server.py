"""The server as a whole, in this process: what it serves survives it, and nobody comes in unasked."""

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from clusterup import waiting
from kubevirt.apiserver.registry import stored
from kubevirt.apiserver.server import ADMINISTRATOR, ApiServer, ServerSettings, serving

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MAPS = "/api/v1/namespaces/default/configmaps"
CRD: dict[str, Any] = {
    "metadata": {"name": "lamps.house.example"},
    "spec": {
        "group": "house.example",
        "scope": "Namespaced",
        "names": {"plural": "lamps", "kind": "Lamp"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
        ],
    },
}
LAMPS = "/apis/house.example/v1/namespaces/default/lamps"


class Visitor:
    """A client of a running server."""

    def __init__(self, server: ApiServer, session: aiohttp.ClientSession) -> None:
        self.server = server
        self.session = session

    async def ask(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, Any]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.request(
            method, self.server.url + path, json=body, headers=named
        ) as answer:
            is_json = answer.content_type == "application/json"
            return answer.status, await (answer.json() if is_json else answer.text())


@asynccontextmanager
async def running(folder: Path, credentials: str = "admin") -> AsyncIterator[Visitor]:
    settings = ServerSettings(data=folder / "store.db", tokens={"admin": ADMINISTRATOR})
    headers = {"Authorization": f"Bearer {credentials}"} if credentials else {}
    async with serving(settings) as server, aiohttp.ClientSession(headers=headers) as session:
        yield Visitor(server, session)


@pytest.fixture
async def visitor(tmp_path: Path) -> AsyncIterator[Visitor]:
    async with running(tmp_path) as visitor:
        yield visitor


async def until_served(visitor: Visitor, path: str) -> None:
    async def is_served() -> bool:
        return (await visitor.ask("GET", path))[0] != 404

    await waiting.until(is_served, limit_s=60, what=f"{path} is served")


async def test_objects_and_kinds_survive_the_server(tmp_path: Path) -> None:
    async with running(tmp_path) as visitor:
        assert (await visitor.ask("POST", CRDS, CRD))[0] == 201
        await until_served(visitor, LAMPS)
        lamp = {"apiVersion": "house.example/v1", "kind": "Lamp", "metadata": {"name": "hall"}}
        code, made = await visitor.ask("POST", LAMPS, lamp)
        assert code == 201
        revision = visitor.server.registry.store.revision
    async with running(tmp_path) as visitor:
        # Served from the first moment on, and nothing had to be written for it.
        assert await visitor.ask("GET", f"{LAMPS}/hall") == (200, made)
        assert visitor.server.registry.store.revision == revision


async def test_strangers_learn_only_how_the_server_is(tmp_path: Path) -> None:
    async with running(tmp_path, credentials="") as visitor:
        for path in ("/readyz", "/livez", "/healthz", "/version"):
            assert (await visitor.ask("GET", path))[0] == 200
        code, refused = await visitor.ask("GET", MAPS)
        assert code == 403
        assert refused["message"] == (
            'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" '
            'in API group "" in the namespace "default"'
        )
        assert (await visitor.ask("GET", "/apis"))[0] == 403


async def test_a_wrong_token_is_nobody(tmp_path: Path) -> None:
    async with running(tmp_path, credentials="guess") as visitor:
        code, refused = await visitor.ask("GET", "/version")
        assert (code, refused["reason"]) == (401, "Unauthorized")


async def test_yaml_goes_in_and_out(visitor: Visitor) -> None:
    url = visitor.server.url + MAPS
    text = "metadata: {name: one}\ndata: {colour: red}\n"
    headers = {"Content-Type": "application/yaml", "Accept": "application/yaml"}
    async with visitor.session.post(url, data=text, headers=headers) as answer:
        assert (answer.status, answer.content_type) == (201, "application/yaml")
        assert "colour: red" in await answer.text()


async def test_a_document_that_did_not_change_is_not_sent_again(visitor: Visitor) -> None:
    url = visitor.server.url + "/openapi/v3/api/v1"
    async with visitor.session.get(url) as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
        tag = answer.headers["ETag"]
    async with visitor.session.get(url, headers={"If-None-Match": tag}) as answer:
        assert answer.status == 304


async def test_whoever_leaves_takes_the_watch_along(visitor: Visitor) -> None:
    store = visitor.server.registry.store
    before = store.watchers

    async def is_watched() -> bool:
        return store.watchers > before

    async def is_over() -> bool:
        return store.watchers == before

    async with visitor.session.get(f"{visitor.server.url}{MAPS}?watch=1") as answer:
        assert answer.status == 200
        await waiting.until(is_watched, limit_s=60, what="the watch has begun")
    await waiting.until(is_over, limit_s=60, what="the watch is over")


async def test_a_body_beyond_the_limit_is_not_read(visitor: Visitor) -> None:
    large = io.BytesIO(b'{"data":{"x":"%b"}}' % (b"x" * (4 << 20)))
    async with visitor.session.post(visitor.server.url + MAPS, data=large) as answer:
        assert answer.status == 413
        assert (await answer.json())["reason"] == "RequestEntityTooLarge"


async def test_many_who_change_one_object_all_get_their_turn(visitor: Visitor) -> None:
    await visitor.ask("POST", MAPS, {"metadata": {"name": "one"}})

    async def label(number: int) -> int:
        patch = {"metadata": {"labels": {f"n{number}": "x"}}}
        while True:
            code, _ = await visitor.ask(
                "PATCH", f"{MAPS}/one", patch, Content_Type="application/merge-patch+json"
            )
            if code != 409:
                return code

    assert set(await asyncio.gather(*map(label, range(20)))) == {200}
    _, one = await visitor.ask("GET", f"{MAPS}/one")
    assert len(one["metadata"]["labels"]) == 20


async def test_a_crd_that_cannot_be_judged_does_not_end_the_server(tmp_path: Path) -> None:
    """One from another time, say, that would be refused today."""
    async with running(tmp_path) as visitor:
        store = visitor.server.registry.store
        kind = visitor.server.registry.catalog.kind(
            "apiextensions.k8s.io", "customresourcedefinitions"
        )
        old = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "spec": {"group": "house.example"},
        }
        metadata = {"name": "lamps.house.example", "uid": "1", "generation": 1}
        value = stored.encoded({**old, "metadata": metadata})
        await store.create(kind.key("", "lamps.house.example"), value)
    async with running(tmp_path) as visitor:
        assert (await visitor.ask("GET", MAPS))[0] == 200
        made = {**CRD, "metadata": {"name": "lamps.garden.example"}}
        made["spec"] = {**CRD["spec"], "group": "garden.example"}
        assert (await visitor.ask("POST", CRDS, made))[0] == 201
        await until_served(visitor, "/apis/garden.example/v1/lamps")
