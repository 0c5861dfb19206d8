"""Reviews: what a server answers about access, held against our own answers to the same objects."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from tests.contract import access
from tests.contract.access import as_seen, review
from tests.contract.conftest import People, config_of

from kubevirt.apiserver.auth import reviews
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, BadRequest, Unauthorized

Object = dict[str, Any]
AUTHORIZATION = "/apis/authorization.k8s.io/v1"
AUTHENTICATION = "/apis/authentication.k8s.io/v1"
POD: Object = {"verb": "get", "resource": "pods"}
PATH: Object = {"verb": "get", "path": "/api"}  # which one binding alone allows
EVE = Identity(user="eve", groups=("ops", "system:authenticated"))


@pytest.fixture
async def eve(people: People) -> AsyncIterator[Client]:
    async with Client(config_of(people.kubeconfig_for("eve", ["ops"]))) as eve:
        yield eve


async def post(client: Client, path: str, object_: Object) -> Object:
    answer: Object = msgspec.json.decode(await client.raw("POST", path, object_))
    answer["metadata"].pop("managedFields", None)
    return answer


@pytest.mark.parametrize(
    "spec",
    [
        {"user": "ann", "resourceAttributes": POD},
        {"user": "ann", "groups": ["system:masters"], "resourceAttributes": POD},
        {"groups": ["system:authenticated"], "nonResourceAttributes": PATH},
        {"user": "ann", "nonResourceAttributes": {"verb": "get", "path": "/metrics"}},
        {"user": "system:node:n1", "groups": ["system:nodes"], "resourceAttributes": POD},
        {"user": "ann", "extra": {"why": ["so"]}, "uid": "7", "resourceAttributes": POD},
    ],
)
async def test_a_subject_is_reviewed(client: Client, spec: Object) -> None:
    asked = review("SubjectAccessReview", spec)
    found = await post(client, f"{AUTHORIZATION}/subjectaccessreviews", asked)
    ours = reviews.subject_access(asked, await as_seen(client))
    assert found["status"] == ours["status"]
    assert found["spec"] == spec


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"user": "ann"},
        {"resourceAttributes": POD},
        {"user": "ann", "resourceAttributes": POD, "nonResourceAttributes": PATH},
    ],
)
async def test_a_review_that_asks_nothing_is_refused(client: Client, spec: Object) -> None:
    asked = review("SubjectAccessReview", spec)
    with pytest.raises(ApiError) as theirs:
        await post(client, f"{AUTHORIZATION}/subjectaccessreviews", asked)
    with pytest.raises(Refusal) as ours:
        reviews.subject_access(asked, await as_seen(client))
    assert theirs.value.status == ours.value.status


@pytest.mark.parametrize(
    "attributes",
    [
        {"resourceAttributes": POD},
        {"resourceAttributes": {**POD, "namespace": "elsewhere"}},
        {"nonResourceAttributes": PATH},
    ],
)
async def test_a_local_review_stays_in_its_namespace(
    client: Client, namespace: str, attributes: Object
) -> None:
    asked = review("LocalSubjectAccessReview", {"user": "ann", **attributes})
    path = f"{AUTHORIZATION}/namespaces/{namespace}/localsubjectaccessreviews"
    with pytest.raises(ApiError) as theirs:
        await post(client, path, asked)
    with pytest.raises(Refusal) as ours:
        reviews.local_subject_access(
            {**asked, "metadata": {"namespace": namespace}}, await as_seen(client)
        )
    assert theirs.value.status == ours.value.status
    asked["spec"] = {"user": "ann", "resourceAttributes": {**POD, "namespace": namespace}}
    found = await post(client, path, asked)
    assert found["status"] == {"allowed": False}


async def test_everybody_may_ask_about_themselves(client: Client, eve: Client) -> None:
    ours = await as_seen(client)
    for attributes in ({"resourceAttributes": POD}, {"nonResourceAttributes": PATH}):
        asked = review("SelfSubjectAccessReview", attributes)
        found = await post(eve, f"{AUTHORIZATION}/selfsubjectaccessreviews", asked)
        assert found["status"] == reviews.self_subject_access(asked, ours, EVE)["status"]
    with pytest.raises(ApiError) as theirs:
        await post(
            eve,
            f"{AUTHORIZATION}/selfsubjectaccessreviews",
            review("SelfSubjectAccessReview", {}),
        )
    with pytest.raises(Refusal) as refused:
        reviews.self_subject_access(review("SelfSubjectAccessReview", {}), ours, EVE)
    assert theirs.value.status == refused.value.status


def by_content(rules: list[Object]) -> list[bytes]:
    return sorted(msgspec.json.encode(each, order="sorted") for each in rules)


async def test_everybody_may_list_their_rules(client: Client, eve: Client) -> None:
    asked = review("SelfSubjectRulesReview", {"namespace": "default"})
    found = await post(eve, f"{AUTHORIZATION}/selfsubjectrulesreviews", asked)
    ours = reviews.self_subject_rules(asked, await as_seen(client), EVE)
    for kind in ("resourceRules", "nonResourceRules"):
        # A server has no order among bindings.
        theirs = found["status"].pop(kind)
        assert by_content(theirs) == by_content(ours["status"].pop(kind))
    assert found == ours
    with pytest.raises(BadRequest, match="no namespace on request"):
        await post(
            eve, f"{AUTHORIZATION}/selfsubjectrulesreviews", review("SelfSubjectRulesReview", {})
        )


async def test_the_rules_of_a_node_cannot_be_listed(client: Client, people: People) -> None:
    user = Identity(user="system:node:n1", groups=("system:nodes", "system:authenticated"))
    asked = review("SelfSubjectRulesReview", {"namespace": "default"})
    path = people.kubeconfig_for(user.user, ["system:nodes"])
    async with Client(config_of(path)) as node:
        found = await post(node, f"{AUTHORIZATION}/selfsubjectrulesreviews", asked)
    ours = reviews.self_subject_rules(asked, await as_seen(client), user)
    for name in ("incomplete", "evaluationError"):
        assert found["status"][name] == ours["status"][name]


async def test_everybody_may_ask_who_they_are(eve: Client) -> None:
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    found = await post(eve, f"{AUTHENTICATION}/selfsubjectreviews", asked)
    (credential,) = found["status"]["userInfo"].pop("extra").values()
    assert credential[0].startswith("X509SHA256=")
    assert found["status"]["userInfo"] == reviews.user_info(EVE)
    assert set(found["metadata"]) == {"creationTimestamp"}


# Tokens


@pytest.fixture
async def robots(client: Client, namespace: str) -> str:
    """A namespace with an account that nobody else uses."""
    accounts = access.resource("", "serviceaccounts", "ServiceAccount")
    await client.create(accounts, {"metadata": {"name": "robot"}}, namespace)
    return namespace


async def reviewed_token(client: Client, token: str, **spec: Any) -> Object:
    asked = review("TokenReview", {"token": token, **spec}, "authentication.k8s.io")
    found = await post(client, f"{AUTHENTICATION}/tokenreviews", asked)
    status: Object = found["status"]
    return status


async def test_a_token_is_reviewed(client: Client, people: People, robots: str) -> None:
    status = await reviewed_token(client, await people.service_account_token(robots, "robot"))
    user = status["user"]
    assert status["authenticated"] is True
    assert user["username"] == f"system:serviceaccount:{robots}:robot"
    assert user["groups"] == [
        "system:serviceaccounts",
        f"system:serviceaccounts:{robots}",
        "system:authenticated",
    ]
    (credential,) = user["extra"]["authentication.kubernetes.io/credential-id"]
    assert credential.startswith("JTI=")


async def test_what_is_no_token_is_told(client: Client, people: People, robots: str) -> None:
    assert await reviewed_token(client, "abc") == {"user": {}, "error": "invalid bearer token"}
    token = await people.service_account_token(robots, "robot")
    broken = await reviewed_token(client, f"{token[:-6]}AAAAAA")
    assert broken["error"].startswith("[invalid bearer token, ")
    issuer = (await reviewed_token(client, token))["audiences"]
    other = await reviewed_token(client, token, audiences=["vault"])
    assert other["error"] == (
        f'[invalid bearer token, token audiences ["{issuer[0]}"] is invalid for the target audiences '
        '["vault"]]'
    )
    with pytest.raises(BadRequest, match="token is required for TokenReview in authentication"):
        await reviewed_token(client, "")


async def refused_in_the_end(client: Client, token: str) -> Object:
    """A server that watches accounts learns of their end a moment later, and may remember a yes for a while."""
    async with asyncio.timeout(120):
        while "error" not in (status := await reviewed_token(client, token)):  # noqa: ASYNC110  # from outside
            await asyncio.sleep(0.05)
    return status


async def test_a_token_ends_with_its_account(
    client: Client, people: People, namespace: str
) -> None:
    accounts = access.resource("", "serviceaccounts", "ServiceAccount")
    await client.create(accounts, {"metadata": {"name": "gone"}}, namespace)
    token = await people.service_account_token(namespace, "gone")
    await client.delete(accounts, "gone", namespace)
    status = await refused_in_the_end(client, token)
    assert status["error"] == '[invalid bearer token, serviceaccounts "gone" not found]'
    async with Client(config_of(people.kubeconfig_with_token(token))) as gone:
        with pytest.raises(Unauthorized):
            await gone.raw("GET", "/version")


async def test_a_token_ends_with_the_secret_that_it_is_bound_to(
    client: Client, robots: str
) -> None:
    secrets = access.resource("", "secrets", "Secret")
    await client.create(secrets, {"metadata": {"name": "life"}}, robots)
    ref = {"kind": "Secret", "apiVersion": "v1", "name": "life"}
    token = (await requested(client, robots, boundObjectRef=ref))["status"]["token"]
    await client.delete(secrets, "life", robots)
    status = await refused_in_the_end(client, token)
    assert status["error"] == "[invalid bearer token, service account token has been invalidated]"


async def requested(client: Client, namespace: str, **spec: Any) -> Object:
    asked = review("TokenRequest", spec, "authentication.k8s.io")
    return await post(client, f"/api/v1/namespaces/{namespace}/serviceaccounts/robot/token", asked)


async def test_a_token_request_is_answered_with_what_was_granted(
    client: Client, robots: str
) -> None:
    answer = await requested(client, robots, audiences=["a", "b"])
    assert answer["spec"] == {
        "audiences": ["a", "b"],
        "expirationSeconds": 3600,
        "boundObjectRef": None,
    }
    assert set(answer["status"]) == {"token", "expirationTimestamp"}
    assert answer["metadata"]["name"] == "robot"
    status = await reviewed_token(client, answer["status"]["token"], audiences=["b", "c"])
    assert status["audiences"] == ["b"]


@pytest.mark.parametrize(
    ("spec", "code", "message"),
    [
        (
            {"expirationSeconds": 5},
            422,
            (
                'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: '
                "may not specify a duration less than 10 minutes"
            ),
        ),
        (
            {"expirationSeconds": 1 << 33},
            422,
            (
                'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: '
                "8589934592: may not specify a duration larger than 2^32 seconds"
            ),
        ),
        (
            {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "no"}},
            404,
            'pods "no" not found',
        ),
        (
            {"boundObjectRef": {"kind": "Lamp", "apiVersion": "x/v1", "name": "no"}},
            400,
            "cannot bind token to object of type x/v1, Kind=Lamp",
        ),
    ],
)
async def test_a_token_request_that_cannot_be_is_refused(
    client: Client, robots: str, spec: Object, code: int, message: str
) -> None:
    with pytest.raises(ApiError) as caught:
        await requested(client, robots, **spec)
    assert (caught.value.code, caught.value.status.message) == (code, message)
