"""Whatever is sent to the server, it answers, and the answer is never a mistake of its own.

Requests are made up: paths, parameters, media types and bodies that are almost right, since what is
altogether wrong is refused at the door.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.component.apiserver.judging import TOKEN, check_refusal, whole_server

from clusterup.pytest_plugin import session_loop

ONE = {"metadata": {"name": "one"}}
ROOTS: dict[str, tuple[str, dict[str, Any]]] = {
    "configmaps": ("/api/v1/namespaces/default/configmaps", {**ONE, "data": {"a": "b"}}),
    "pods": (
        "/api/v1/namespaces/default/pods",
        {**ONE, "spec": {"containers": [{"name": "main", "image": "x"}]}},
    ),
    "namespaces": ("/api/v1/namespaces", ONE),
    "roles": ("/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", ONE),
    "crds": (
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        {
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
        },
    ),
}
"""Where requests go, and an object to be there when they arrive."""

NAMES = st.sampled_from(["one", "two", "default", "", "A_", "lamps.house.example", "."])
SCALARS = st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats(allow_nan=False) | NAMES
KEYS = st.sampled_from(
    [
        "metadata",
        "name",
        "spec",
        "status",
        "data",
        "labels",
        "finalizers",
        "containers",
        "versions",
        "names",
        "group",
        "rules",
        "managedFields",
        "ownerReferences",
        "annotations",
        "$patch",
        "x",
        "apiVersion",
        "kind",
        "uid",
        "resourceVersion",
        "schema",
        "openAPIV3Schema",
        "type",
        "op",
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)
METADATA = st.fixed_dictionaries(
    {"name": NAMES},
    optional={
        "labels": VALUES,
        "finalizers": VALUES,
        "managedFields": VALUES,
        "ownerReferences": VALUES,
        "uid": VALUES,
        "resourceVersion": st.sampled_from(["1", "x", ""]),
        "deletionTimestamp": VALUES,
        "generateName": NAMES,
    },
)
BODIES = VALUES | st.fixed_dictionaries(
    {"metadata": METADATA},
    optional={"spec": VALUES, "data": VALUES, "status": VALUES, "rules": VALUES, "x": VALUES},
)
PARAMETERS = st.dictionaries(
    st.sampled_from(
        [
            "limit",
            "continue",
            "labelSelector",
            "fieldSelector",
            "resourceVersion",
            "dryRun",
            "fieldManager",
            "fieldValidation",
            "force",
            "propagationPolicy",
            "gracePeriodSeconds",
            "resourceVersionMatch",
            "orphanDependents",
        ]
    ),
    st.sampled_from(["", "1", "x", "true", "All", "Strict", "a=b", "a in (b)", "metadata.name=one"])
    | st.sampled_from(["Exact", "Orphan", "-1", "eyJ2IjoiIn0", "((", "99999999999999999999"]),
    max_size=3,
)
PATCHES = [
    "application/merge-patch+json",
    "application/json-patch+json",
    "application/apply-patch+yaml",
    "application/strategic-merge-patch+json",
]
MEDIA = st.sampled_from(["application/json", "application/json", "application/yaml", "text/plain"])
ACCEPTS = st.sampled_from(
    [
        "application/json",
        "application/yaml",
        "*/*",
        "text/plain",
        "application/json;as=Table;v=v1",
        "application/json;as=Table;g=meta.k8s.io;v=v1,application/json",
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    ]
)


class Target:
    """A server that outlives the examples, each of which is one request to it."""

    def __init__(self, loop: asyncio.Runner, url: str) -> None:
        self._loop = loop
        self._url = url
        self._session = loop.run(self._opened())

    async def _opened(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(headers={"Authorization": f"Bearer {TOKEN}"})

    def close(self) -> None:
        self._loop.run(self._session.close())

    def ask(self, method: str, path: str, **options: Any) -> tuple[int, bytes]:
        return self._loop.run(self._ask(method, path, **options))

    async def _ask(self, method: str, path: str, **options: Any) -> tuple[int, bytes]:
        async with self._session.request(method, self._url + path, **options) as answer:
            return answer.status, await answer.read()


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder: Path = tmp_path_factory.mktemp("surface")
    made = whole_server(folder)
    with session_loop() as loop:
        server = loop.run(made.__aenter__())
        try:
            found = Target(loop, server.url)
            try:
                yield found
            finally:
                found.close()
        finally:
            loop.run(made.__aexit__(None, None, None))


@pytest.mark.timeout(180)
@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE"]),
    root=st.sampled_from(sorted(ROOTS)),
    below=st.sampled_from([None, "", "", "/status", "/scale", "/finalize"]),
    body=BODIES,
    parameters=PARAMETERS,
    media=MEDIA,
    patch=st.sampled_from(PATCHES),
    accept=ACCEPTS,
)
def test_no_request_is_answered_by_a_mistake(
    target: Target,
    *,
    method: str,
    root: str,
    below: str | None,
    body: Any,
    parameters: dict[str, str],
    media: str,
    patch: str,
    accept: str,
) -> None:
    path, sample = ROOTS[root]
    if below is not None:
        target.ask("POST", path, json=sample, headers={})
        path += f"/{sample['metadata']['name']}{below}"
    text = msgspec.json.encode(body) if method != "GET" else None
    headers = {"Content-Type": patch if method == "PATCH" else media, "Accept": accept}
    code, answer = target.ask(method, path, params=parameters, data=text, headers=headers)
    if code >= 400:
        check_refusal(method, path, code, answer)
