"""Who is let in, as whom: anonymous ones, broken credentials, and those who act as others."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from tests.contract import access
from tests.contract.access import ACCESS
from tests.contract.conftest import People, Server, config_of

from kubevirt.apiserver.auth.rbac.policy import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES
from kubevirt.kube.access.config import Config, Impersonation
from kubevirt.kube.access.credentials import HeldCredentials
from kubevirt.kube.access.material import Inline
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, Forbidden, Unauthorized

WHO_AM_I = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
SELF = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


async def who_am_i(config: Config) -> dict[str, Any]:
    async with Client(config) as client:
        answer = msgspec.json.decode(await client.raw("POST", WHO_AM_I, SELF))
    found: dict[str, Any] = answer["status"]["userInfo"]
    return found


def acting(
    server: Server,
    user: str,
    groups: Sequence[str] = (),
    extra: Mapping[str, Sequence[str]] | None = None,
    uid: str = "",
) -> Config:
    other = Impersonation(user=user, groups=tuple(groups), extra=extra or {}, uid=uid)
    return replace(config_of(server.kubeconfig), impersonate=other)


@pytest.mark.parametrize(
    ("path", "is_open"),
    [
        ("/healthz", True),
        ("/livez", True),
        ("/readyz", True),
        ("/version", True),
        ("/metrics", False),
        ("/api", False),
        ("/apis", False),
        ("/openapi/v2", False),
        ("/api/v1/namespaces", False),
    ],
)
async def test_an_anonymous_one_gets_health_and_version_only(
    server: Server, path: str, *, is_open: bool
) -> None:
    nobody = replace(config_of(server.kubeconfig), credentials=HeldCredentials())
    async with Client(nobody) as client:
        if is_open:
            assert await client.raw("GET", path)
            return
        with pytest.raises(Forbidden, match='User "system:anonymous" cannot'):
            await client.raw("GET", path)


@pytest.mark.parametrize("token", ["x", "a.b.c", "eyJhbGciOiJub25lIn0.e30."])
async def test_a_broken_token_is_not_anonymous(server: Server, token: str) -> None:
    broken = HeldCredentials(token=Inline(token.encode(), "token"))
    async with Client(replace(config_of(server.kubeconfig), credentials=broken)) as client:
        with pytest.raises(Unauthorized) as caught:
            await client.raw("GET", "/version")
    status = caught.value.status
    assert (status.code, status.reason, status.message) == (401, "Unauthorized", "Unauthorized")


async def test_acting_as_another_brings_exactly_what_was_asked_for(server: Server) -> None:
    found = await who_am_i(
        acting(server, "bob", ["ops"], {"example.org/why": ["test", "fun"]}, uid="7")
    )
    assert found == {
        "username": "bob",
        "uid": "7",
        "groups": ["ops", "system:authenticated"],
        "extra": {"example.org/why": ["test", "fun"]},
    }
    assert await who_am_i(acting(server, "bob")) == {
        "username": "bob",
        "groups": ["system:authenticated"],
    }


async def test_an_account_brings_its_groups(server: Server) -> None:
    found = await who_am_i(acting(server, "system:serviceaccount:lab:robot"))
    assert found["groups"] == [
        "system:serviceaccounts",
        "system:serviceaccounts:lab",
        "system:authenticated",
    ]
    found = await who_am_i(acting(server, "system:serviceaccount:lab:robot", ["ops"]))
    assert found["groups"] == ["ops", "system:authenticated"]


@pytest.mark.parametrize(
    ("who", "message"),
    [
        (
            {"user": "system:serviceaccount:lab:robot"},
            (
                'serviceaccounts "robot" is forbidden: User "imp" cannot impersonate resource "serviceaccounts"'
                ' in API group "" in the namespace "lab"'
            ),
        ),
        (
            {"user": "bob", "groups": ["system:masters"]},
            (
                'groups "system:masters" is forbidden: User "imp" cannot impersonate resource "groups" in API'
                ' group "" at the cluster scope'
            ),
        ),
        (
            {"user": "bob", "extra": {"example.org/why": ["fun"]}},
            (
                'userextras.authentication.k8s.io "fun" is forbidden: User "imp" cannot impersonate resource'
                ' "userextras/example.org/why" in API group "authentication.k8s.io" at the cluster scope'
            ),
        ),
        (
            {"user": "bob", "uid": "7"},
            (
                'uids.authentication.k8s.io "7" is forbidden: User "imp" cannot impersonate resource "uids" in'
                ' API group "authentication.k8s.io" at the cluster scope'
            ),
        ),
    ],
)
async def test_each_part_of_another_must_be_allowed(
    people: People, client: Client, who: dict[str, Any], message: str
) -> None:
    role = access.role("impersonator", access.rule("impersonate", "core", "users"))
    bound = access.binding("impersonator", "ClusterRole", "impersonator", access.user("imp"))
    for plural, object_ in ((CLUSTER_ROLES, role), (CLUSTER_ROLE_BINDINGS, bound)):
        try:
            await client.create(ACCESS[plural], object_)
        except ApiError as error:
            if error.code != 409:
                raise
    imp = config_of(people.kubeconfig_for("imp"))
    async with asyncio.timeout(120):
        while not await _is_known(replace(imp, impersonate=Impersonation(user="bob"))):
            pass
    with pytest.raises(Forbidden) as caught:
        await who_am_i(replace(imp, impersonate=Impersonation(**who)))
    assert caught.value.status.message == message


async def _is_known(config: Config) -> bool:
    """Whether a binding that was made counts by now."""
    try:
        await who_am_i(config)
    except Forbidden:
        return False
    return True
