"""The audit log of a running server: every request in it, and no secret."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubevirt.api.resource import Resource
from kubevirt.apiserver.auth.access import AccessSettings
from kubevirt.apiserver.auth.audit_log import AuditLogSettings
from kubevirt.apiserver.auth.authority import signing_key
from kubevirt.apiserver.server import ADMINISTRATOR, ServerSettings, serving
from kubevirt.kube.access.config import Config, Impersonation
from kubevirt.kube.access.credentials import HeldCredentials
from kubevirt.kube.access.material import Inline
from kubevirt.kube.client import Client
from kubevirt.kube.errors import Forbidden, NotFound, Unauthorized

SECRETS: Resource[dict[str, Any]] = Resource("", "v1", "secrets", "Secret", True, dict[str, Any])
ROLES: Resource[dict[str, Any]] = Resource(
    "rbac.authorization.k8s.io", "v1", "roles", "Role", True, dict[str, Any]
)
HIDDEN = "c2VjcmV0LXdvcmRz"


@pytest.fixture
async def events(tmp_path: Path) -> list[dict[str, Any]]:
    """What was written down about the requests below, once the server has ended."""
    settings = ServerSettings(
        data=tmp_path / "store.db",
        access=AccessSettings(
            signing_key=signing_key(), known_tokens={"admin-token": ADMINISTRATOR}
        ),
        audit=AuditLogSettings(path=tmp_path / "audit.log"),
    )
    async with serving(settings) as server:
        config = Config(server=server.url, credentials=_token("admin-token"))
        await _do_things(config)
    text = (tmp_path / "audit.log").read_bytes()
    assert HIDDEN.encode() not in text
    assert b"admin-token" not in text
    found = [msgspec.json.decode(line) for line in text.splitlines()]
    # The server's own controllers are written down, too; here it is about clients.
    return [each for each in found if each["userAgent"] != "kube-controller-manager"]


def _token(text: str) -> HeldCredentials:
    return HeldCredentials(token=Inline(text.encode(), "token"))


async def _do_things(config: Config) -> None:
    async with Client(config) as client:
        await client.create(
            SECRETS, {"metadata": {"name": "s"}, "data": {"password": HIDDEN}}, "default"
        )
        await client.get(SECRETS, "s", "default")
        rules = [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]
        await client.create(ROLES, {"metadata": {"name": "r"}, "rules": rules}, "default")
        with pytest.raises(NotFound):
            await client.get(SECRETS, "none", "default")
    async with Client(replace(config, impersonate=Impersonation(user="bob"))) as bob:
        with pytest.raises(Forbidden):
            await bob.get(SECRETS, "s", "default")
    async with Client(replace(config, credentials=_token("wrong"))) as nobody:
        with pytest.raises(Unauthorized):
            await nobody.get(SECRETS, "s", "default")


def test_every_request_is_written_down_without_secrets(events: list[dict[str, Any]]) -> None:
    seen = [
        (each["verb"], each["objectRef"].get("name", ""), each["responseStatus"]["code"])
        for each in events
    ]
    assert seen == [
        ("create", "", 201),
        ("get", "s", 200),
        ("create", "", 201),
        ("get", "none", 404),
        ("get", "s", 403),
        ("get", "s", 401),
    ]
    assert [each["level"] for each in events] == ["Metadata"] * 2 + ["Request"] + ["Metadata"] * 3
    assert events[2]["requestObject"]["rules"][0]["resources"] == ["pods"]
    assert events[3]["responseStatus"]["message"] == 'secrets "none" not found'
    assert len({each["auditID"] for each in events}) == len(events)


def test_it_is_told_who_acted_as_whom_and_why_not(events: list[dict[str, Any]]) -> None:
    refused = events[4]
    assert refused["user"]["username"] == "kubernetes-admin"
    assert refused["impersonatedUser"]["username"] == "bob"
    assert refused["annotations"]["authorization.k8s.io/decision"] == "forbid"
    assert events[0]["annotations"]["authorization.k8s.io/decision"] == "allow"
    assert events[5]["user"] == {}
