"""Roles of a running server: made when they are missing, gathered from their parts, known after a restart."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kubevirt.api.resource import Resource
from kubevirt.apiserver.auth.access import AccessSettings
from kubevirt.apiserver.auth.authority import signing_key
from kubevirt.apiserver.server import ADMINISTRATOR, ServerSettings, serving
from kubevirt.apiserver.storage.store import StoreSettings
from kubevirt.apiserver.storage.watching import WatchSettings
from kubevirt.kube.access.config import Config
from kubevirt.kube.access.credentials import HeldCredentials
from kubevirt.kube.access.material import Inline
from kubevirt.kube.client import Client

GROUP = "rbac.authorization.k8s.io"
ROLES: Resource[dict[str, Any]] = Resource(
    GROUP, "v1", "clusterroles", "ClusterRole", False, dict[str, Any]
)
BINDINGS: Resource[dict[str, Any]] = Resource(
    GROUP, "v1", "clusterrolebindings", "ClusterRoleBinding", False, dict[str, Any]
)
KEY = signing_key()
PODS = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}


@asynccontextmanager
async def running(folder: Path, store: StoreSettings | None = None) -> AsyncIterator[Client]:
    settings = ServerSettings(
        data=folder / "store.db",
        access=AccessSettings(signing_key=KEY, known_tokens={"admin": ADMINISTRATOR}),
        store=store or StoreSettings(),
    )
    async with serving(settings) as server:
        token = HeldCredentials(token=Inline(b"admin", "token"))
        async with Client(Config(server=server.url, credentials=token)) as client:
            yield client


async def may_get_pods(client: Client, user: str) -> bool:
    kind = "SubjectAccessReview"
    reviews: Resource[dict[str, Any]] = Resource(
        "authorization.k8s.io", "v1", "subjectaccessreviews", kind, False, dict[str, Any]
    )
    spec = {"user": user, "resourceAttributes": {"verb": "get", "resource": "pods"}}
    answer = await client.create(reviews, {"spec": spec})
    return bool(answer["status"]["allowed"])


def bound(name: str, role: str, user: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "roleRef": {"kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "User", "name": user}],
    }


async def unbind(client: Client, user: str) -> None:
    await client.delete(BINDINGS, user)


async def test_a_default_role_that_is_deleted_comes_back_with_the_next_start(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as client:
        changed = await client.get(ROLES, "view")
        await client.delete(ROLES, "system:basic-user")
        await client.create(BINDINGS, bound("b", "view", "ann"))
    async with running(tmp_path) as client:
        assert (await client.get(ROLES, "system:basic-user"))["rules"]
        kept = await client.get(ROLES, "view")
        assert kept["metadata"]["resourceVersion"] == changed["metadata"]["resourceVersion"]
        assert await may_get_pods(client, "ann")


async def test_a_part_that_is_added_and_removed_changes_the_whole(tmp_path: Path) -> None:
    label = f"{GROUP}/aggregate-to-view"
    part = {"metadata": {"name": "lamps", "labels": {label: "true"}}}
    lamps = {"verbs": ["get"], "apiGroups": ["lamps.example"], "resources": ["lamps"]}
    async with running(tmp_path) as client, asyncio.timeout(60):
        before = (await client.get(ROLES, "admin"))["rules"]
        await client.create(ROLES, {**part, "rules": [lamps]})
        for name in ("view", "edit", "admin"):
            while lamps not in (await client.get(ROLES, name))["rules"]:
                pass
        await client.delete(ROLES, "lamps")
        while (await client.get(ROLES, "admin"))["rules"] != before:
            pass


async def test_a_binding_counts_for_the_next_request(tmp_path: Path) -> None:
    async with running(tmp_path) as client:
        await client.create(ROLES, {"metadata": {"name": "r"}, "rules": [PODS]})
        for number in range(20):
            user = f"user-{number}"
            assert not await may_get_pods(client, user)
            await client.create(BINDINGS, bound(user, "r", user))
            assert await may_get_pods(client, user)
            await client.delete(BINDINGS, user)
            assert not await may_get_pods(client, user)


async def test_changes_that_were_missed_are_read_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With room for next to nothing, a burst of changes cuts the watch off."""
    caplog.set_level("INFO")
    store = StoreSettings(watch=WatchSettings(buffer_events=1))
    async with running(tmp_path, store) as client, asyncio.timeout(60):
        await client.create(ROLES, {"metadata": {"name": "r"}, "rules": [PODS]})
        users = [f"user-{number}" for number in range(50)]
        async with asyncio.TaskGroup() as tasks:
            for user in users:
                tasks.create_task(client.create(BINDINGS, bound(user, "r", user)))
        for user in users:
            while not await may_get_pods(client, user):
                pass
        async with asyncio.TaskGroup() as tasks:
            for user in users:
                tasks.create_task(unbind(client, user))
        for user in users:
            while await may_get_pods(client, user):
                pass
    assert "changes of access were missed, all is read again" in caplog.text
