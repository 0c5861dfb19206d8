"""Nobody gives away what they do not hold: what the server says, held against our own check."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.contract import access
from tests.contract.access import ACCESS, as_seen, reviewed, rule
from tests.contract.conftest import People, config_of

from kubevirt.api.meta import Status
from kubevirt.apiserver.auth.rbac.escalation import Escalation, Written
from kubevirt.apiserver.auth.rbac.policy import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GROUP,
    ROLE_BINDINGS,
    ROLES,
)
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

AUTHOR = "escalation-author"
WHO = Identity(user=AUTHOR, groups=("writers", "system:authenticated"))
OWN = [
    rule("create update patch get", GROUP, "roles clusterroles rolebindings clusterrolebindings"),
    rule("get list", "core", "pods pods/log"),
    rule("get", "core", "secrets", "mine"),
    rule("bind", GROUP, "clusterroles", "escalation-bindable"),
    rule("escalate", GROUP, "roles", "free"),
    rule("*", "lamps.example", "*/status"),
    {"verbs": ["get"], "nonResourceURLs": ["/lamps/*"]},
]


@pytest.fixture
async def author(people: People, client: Client) -> AsyncIterator[Client]:
    """Somebody who may write roles and bindings, and has a little to give."""
    await _replace(client, CLUSTER_ROLES, access.role("escalation-own", *OWN))
    await _replace(
        client,
        CLUSTER_ROLES,
        access.role("escalation-bindable", rule("delete", "core", "nodes")),
    )
    await _replace(
        client,
        CLUSTER_ROLE_BINDINGS,
        access.binding("escalation-own", "ClusterRole", "escalation-own", access.user(AUTHOR)),
    )
    async with asyncio.timeout(120):
        while not await _may_write(client):
            pass
    async with Client(config_of(people.kubeconfig_for(AUTHOR, ["writers"]))) as author:
        yield author


async def _replace(client: Client, plural: str, object_: dict[str, Any]) -> None:
    try:
        await client.create(ACCESS[plural], object_)
    except ApiError as error:
        if error.code != 409:
            raise


async def _may_write(client: Client) -> bool:
    last = {"verb": "create", "group": "lamps.example", "resource": "x", "subresource": "status"}
    spec = {"user": AUTHOR, "resourceAttributes": last}
    status = await reviewed(client, "SubjectAccessReview", spec)
    return bool(status["allowed"])


GRANTS: dict[str, list[dict[str, Any]]] = {
    "what is held": [rule("get", "core", "pods"), rule("list", "core", "pods/log")],
    "one verb more": [rule("get delete watch", "core", "pods")],
    "a subresource more": [rule("get", "core", "pods/exec")],
    "any name": [rule("get", "core", "secrets")],
    "the own name": [rule("get", "core", "secrets", "mine")],
    "another name": [rule("get list", "core", "secrets", "mine", "yours")],
    "everything": [rule("*", "*", "*")],
    "a status of anything": [rule("update", "lamps.example", "lamps/status */status")],
    "a status of all groups": [rule("update", "*", "lamps/status")],
    "two groups": [rule("get", "core apps", "pods deployments")],
    "nothing": [],
}
PATHS: dict[str, list[dict[str, Any]]] = {
    "a path below": [{"verbs": ["get"], "nonResourceURLs": ["/lamps/one", "/lamps/*"]}],
    "a path beside": [{"verbs": ["get", "post"], "nonResourceURLs": ["/lamps", "/lamps/x"]}],
    "all paths": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
}


async def compare(
    client: Client,
    author: Client,
    plural: str,
    object_: dict[str, Any],
    namespace: str = "",
) -> str:
    """The same from both; the message, empty if it was let through."""
    ours = await as_seen(client)
    escalation = Escalation(ours.policy, ours.authorize)
    written = Written(resource=plural, namespace=namespace, asked_name="", new=object_)
    is_role = plural in {ROLES, CLUSTER_ROLES}
    check = escalation.check_role if is_role else escalation.check_binding
    expected = None
    try:
        check(written, WHO)
    except Refusal as refusal:
        expected = refusal.status
    found = await said_by(author, plural, object_, namespace)
    assert found == expected
    return found.message if found else ""


async def said_by(
    author: Client, plural: str, object_: dict[str, Any], namespace: str
) -> Status | None:
    where = [namespace] if namespace else []
    try:
        await author.create(ACCESS[plural], object_, *where, dry_run=True)
    except ApiError as error:
        return error.status
    return None


@pytest.mark.parametrize("what", GRANTS)
async def test_a_role_gives_no_more_than_its_author_has(
    client: Client, author: Client, namespace: str, what: str
) -> None:
    role = access.role("granted", *GRANTS[what])
    message = await compare(client, author, ROLES, role, namespace)
    assert bool(message) == (
        what not in {"what is held", "the own name", "nothing", "a status of anything"}
    )


@pytest.mark.parametrize("what", PATHS)
async def test_a_cluster_role_gives_no_more_paths_than_its_author_has(
    client: Client, author: Client, what: str
) -> None:
    message = await compare(client, author, CLUSTER_ROLES, access.role("granted", *PATHS[what]))
    assert bool(message) == (what != "a path below")


async def test_only_an_administrator_gathers_roles(client: Client, author: Client) -> None:
    gathering = {
        **access.role("gathering"),
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]},
    }
    message = await compare(client, author, CLUSTER_ROLES, gathering)
    assert "must have cluster-admin privileges to use the aggregationRule" in message


@pytest.mark.parametrize(
    ("role", "is_allowed"),
    [
        ("cluster-admin", False),
        ("escalation-bindable", True),
        ("escalation-own", True),
        ("system:basic-user", True),
        ("nothing-there", False),
    ],
)
async def test_a_binding_gives_no_more_than_its_author_has(
    client: Client, author: Client, namespace: str, role: str, *, is_allowed: bool
) -> None:
    bound = access.binding("granted", "ClusterRole", role, access.user("bob"))
    message = await compare(client, author, ROLE_BINDINGS, bound, namespace)
    assert bool(message) != is_allowed
    message = await compare(client, author, CLUSTER_ROLE_BINDINGS, bound)
    assert bool(message) != is_allowed
