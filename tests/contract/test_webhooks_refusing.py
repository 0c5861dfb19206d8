"""What a client hears when a webhook says no, or cannot be asked."""

import asyncio
import ssl
from contextlib import AsyncExitStack, suppress
from typing import Any

import pytest
from aiohttp import web
from tests.contract import hooks
from tests.contract.hooks import ASK_ABOUT_MAPS, MUTATING, VALIDATING, Hook, no
from tests.contract.lamps import CONFIG_MAPS, a_config_map

from clusterup import ports
from kubevirt.api.resource import Resource
from kubevirt.base.errors import Unreachable
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

Object = dict[str, Any]
KINDS = pytest.mark.parametrize("kind", [MUTATING, VALIDATING], ids=lambda each: each.kind)
DENIED = 'admission webhook "one.hooks.example" denied the request'
FAILED = 'Internal error occurred: failed calling webhook "one.hooks.example": '
NOT_CALLED = FAILED + "failed to call webhook: "


async def refused(client: Client, namespace: str, **params: str) -> Any:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    with pytest.raises(ApiError) as caught:
        await client.raw("POST", path, a_config_map("one", x="y"), params=params)
    return caught.value.status


@KINDS
@pytest.mark.parametrize(
    ("answer", "code", "reason", "message"),
    [
        (no(), 400, "", f"{DENIED} without explanation"),
        (no("not today"), 400, "", f"{DENIED}: not today"),
        (no(reason="Expired"), 400, "Expired", f"{DENIED}: Expired"),
        (no("go away", code=403, reason="Forbidden"), 403, "Forbidden", f"{DENIED}: go away"),
        (no("tea", code=418), 418, "", f"{DENIED}: tea"),
        (no("well", code=200, status="Success"), 400, "", f"{DENIED}: well"),
    ],
    ids=["silent", "words", "reason", "forbidden", "teapot", "success"],
)
async def test_a_no_is_passed_on(
    client: Client,
    namespace: str,
    kind: Resource[Object],
    answer: hooks.Answer,
    code: int,
    reason: str,
    message: str,
) -> None:
    async with hooks.one(client, kind, namespace, answer):
        status = await refused(client, namespace)
    assert (status.code, status.reason, status.message) == (code, reason, message)
    assert status.status == "Failure"
    async with hooks.one(client, kind, namespace):  # nothing was stored
        await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)


async def test_the_causes_of_a_no_are_passed_on(client: Client, namespace: str) -> None:
    causes = [{"reason": "FieldValueInvalid", "message": "no such room", "field": "data.room"}]
    answer = no("bad room", code=422, reason="Invalid", details={"causes": causes})
    async with hooks.one(client, VALIDATING, namespace, answer):
        status = await refused(client, namespace)
    (cause,) = status.details.causes
    assert (cause.reason, cause.message, cause.field) == (
        "FieldValueInvalid",
        "no such room",
        "data.room",
    )


@KINDS
async def test_a_deletion_can_be_refused(
    client: Client, namespace: str, kind: Resource[Object]
) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    rules = [{**ASK_ABOUT_MAPS, "operations": ["DELETE"]}]
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    async with hooks.one(client, kind, namespace, no("it stays"), rules=rules):
        for method in (f"{path}/one", path):
            with pytest.raises(ApiError) as caught:
                await client.raw("DELETE", method)
            assert caught.value.status.message == f"{DENIED}: it stays"
    await client.get(CONFIG_MAPS, "one", namespace=namespace)


async def test_validating_webhooks_are_asked_together(client: Client, namespace: str) -> None:
    both = asyncio.Barrier(2)

    async def wait_for_the_other(_: Object) -> Object:
        await both.wait()
        return {"allowed": True}

    async with AsyncExitStack() as stack:
        for _ in range(2):
            hook = hooks.one(client, VALIDATING, namespace, wait_for_the_other)
            await stack.enter_async_context(hook)
        await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)


async def test_one_no_among_many_is_enough(client: Client, namespace: str) -> None:
    async with (
        hooks.one(client, VALIDATING, namespace) as yes,
        hooks.one(client, VALIDATING, namespace, no("not me")),
    ):
        status = await refused(client, namespace)
    assert status.message == f"{DENIED}: not me"
    assert len(yes.asked) == 1


async def test_warnings_are_passed_on(client: Client, namespace: str) -> None:
    heard: list[str] = []

    def warn(_: Object) -> Object:
        return {"allowed": True, "warnings": ["mind the gap", 'say "please"', "", "mind the gap"]}

    async with hooks.one(client, VALIDATING, namespace, warn):
        speaking = client.heard_by(lambda warning: heard.append(str(warning)))
        await speaking.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    assert [each for each in heard if "mind the gap" in each] == heard[:1]
    assert len(heard) == 2
    assert 'say "please"' in heard[1]


async def test_too_many_warnings_are_cut(client: Client, namespace: str) -> None:
    heard: list[str] = []

    def warn(_: Object) -> Object:
        return {"allowed": True, "warnings": [f"{number:03}" + "x" * 500 for number in range(30)]}

    async with hooks.one(client, VALIDATING, namespace, warn):
        speaking = client.heard_by(lambda warning: heard.append(str(warning)))
        await speaking.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    assert len(heard) == 16
    assert all(each.count("x") == 253 for each in heard)


async def test_a_no_may_warn_too(client: Client, namespace: str) -> None:
    heard: list[str] = []

    def warn(_: Object) -> Object:
        return {"allowed": False, "warnings": ["I told you"]}

    async with hooks.one(client, VALIDATING, namespace, warn):
        speaking = client.heard_by(lambda warning: heard.append(str(warning)))
        await refused(speaking, namespace)
    assert len(heard) == 1


# A dry run


@KINDS
async def test_a_dry_run_spares_those_without_side_effects(
    client: Client, namespace: str, kind: Resource[Object]
) -> None:
    for effects in ("None", "NoneOnDryRun"):
        async with hooks.one(client, kind, namespace, sideEffects=effects) as hook:
            path = f"/api/v1/namespaces/{namespace}/configmaps"
            await client.raw("POST", path, a_config_map("one"), params={"dryRun": "All"})
        assert [each["dryRun"] for each in hook.asked] == [True]


# Answers that are none


def answered(**response: Any) -> hooks.Answer:
    return lambda _: web.Response(**response)


def a_review(**fields: Any) -> hooks.Answer:
    def answer(request: Object) -> web.Response:
        response = {"uid": request["uid"], "allowed": True}
        review = {
            "kind": "AdmissionReview",
            "apiVersion": "admission.k8s.io/v1",
            "response": response,
            **fields,
        }
        return web.json_response({k: v for k, v in review.items() if v is not None})

    return answer


INVALID = FAILED + "received invalid webhook response: "


@KINDS
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (answered(status=404), NOT_CALLED + "the server could not find the requested resource"),
        (
            answered(status=400),
            NOT_CALLED + "the server rejected our request for an unknown reason",
        ),
        (
            answered(status=500, text="ouch"),
            NOT_CALLED
            + 'an error on the server ("ouch") has prevented the request from succeeding',
        ),
        (
            answered(status=500),
            NOT_CALLED + 'an error on the server ("") has prevented the request from succeeding',
        ),
        (
            answered(status=302, headers={"Location": "https://127.0.0.1:1/"}),
            NOT_CALLED,
        ),
        (
            answered(text="", content_type="application/json"),
            NOT_CALLED
            + "0-length response with status code: 200 and content type: application/json",
        ),
        (
            answered(text="hello", content_type="application/json"),
            NOT_CALLED + "couldn't get version/kind; json parse error: ",
        ),
        (
            answered(text="[]", content_type="application/json"),
            NOT_CALLED + "couldn't get version/kind; json parse error: ",
        ),
        (a_review(response=None), INVALID + "webhook response was absent"),
        (
            a_review(response={"uid": "other", "allowed": True}),
            INVALID + "expected response.uid=",
        ),
        (
            a_review(apiVersion="admission.k8s.io/v1beta1"),
            NOT_CALLED
            + "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
        ),
        (
            a_review(kind="Review"),
            NOT_CALLED + 'no kind "Review" is registered for version "admission.k8s.io/v1"',
        ),
        (
            a_review(kind=None, apiVersion=None),
            INVALID
            + "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=",
        ),
        (
            a_review(response={"allowed": "maybe"}),
            NOT_CALLED + "json: cannot unmarshal string into Go struct field "
            "AdmissionResponse.response.allowed of type bool",
        ),
        (
            answered(
                status=500,
                text='{"kind":"Status","apiVersion":"v1","status":"Failure","message":"own words"}',
                content_type="application/json",
            ),
            NOT_CALLED + "own words",
        ),
    ],
    ids=[
        *("404", "400", "500", "silent 500", "redirect", "empty", "text", "list", "absent", "uid"),
        *("v1beta1", "kind", "no kind", "maybe", "status"),
    ],
)
async def test_answers_that_are_none(
    client: Client, namespace: str, kind: Resource[Object], answer: hooks.Answer, message: str
) -> None:
    async with hooks.one(client, kind, namespace, answer):
        status = await refused(client, namespace)
    assert (status.code, status.reason) == (500, "InternalError")
    assert status.message.startswith(message)
    assert status.details.causes[0].message == status.message.removeprefix(
        "Internal error occurred: "
    )
    async with hooks.one(client, kind, namespace, answer, failurePolicy="Ignore"):
        await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)


async def test_a_validating_webhook_changes_nothing(client: Client, namespace: str) -> None:
    async with hooks.one(client, VALIDATING, namespace, hooks.add("/data/a", "b")):
        status = await refused(client, namespace)
    assert status.message == INVALID + "validating webhook may not return response.patch"


# Webhooks that are not there


@KINDS
async def test_a_webhook_that_hangs(client: Client, namespace: str, kind: Resource[Object]) -> None:
    async with hooks.one(client, kind, namespace, hooks.hang, timeoutSeconds=1) as hook:
        status = await refused(client, namespace)
    assert hook.queries == ["timeout=1s"]
    assert (status.code, status.reason) == (500, "InternalError")
    assert status.message.startswith(NOT_CALLED + 'Post "https://127.0.0.1:')
    assert status.message.endswith('/hook?timeout=1s": context deadline exceeded')
    async with hooks.one(
        client, kind, namespace, hooks.hang, timeoutSeconds=1, failurePolicy="Ignore"
    ):
        await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)


async def test_a_client_may_have_less_patience_than_a_webhook(
    client: Client, namespace: str
) -> None:
    async with hooks.one(client, VALIDATING, namespace, hooks.hang) as hook:
        # Kubernetes closes the connection where the answer comes a moment too late.
        with suppress(Unreachable):
            status = await refused(client, namespace, timeout="2s")
            assert status.code in (500, 504)  # whoever of the two notices first
    assert hook.queries == ["timeout=2s"]


async def test_a_time_that_is_none_is_refused(client: Client, namespace: str) -> None:
    status = await refused(client, namespace, timeout="soon")
    words = 'invalid timeout specified in the request URL - time: invalid duration "soon"'
    assert (status.code, status.message) == (400, words)


async def test_a_webhook_that_is_away(client: Client, namespace: str) -> None:
    port = ports.take()
    url = f"https://127.0.0.1:{port.number}/hook"
    client_config = {"url": url, "caBundle": hooks.bundle()}
    try:
        async with hooks.one(client, VALIDATING, namespace, clientConfig=client_config):
            status = await refused(client, namespace)
    finally:
        port.release()
    assert status.message == (
        f'{NOT_CALLED}Post "{url}?timeout=10s": dial tcp 127.0.0.1:{port.number}: connect: connection '
        "refused"
    )


@pytest.mark.parametrize(
    ("context", "words"),
    [
        (
            lambda: hooks.serving(signer="somebody else"),
            "tls: failed to verify certificate: x509: certificate signed by unknown authority",
        ),
        (
            lambda: hooks.serving(["elsewhere.example"]),
            "tls: failed to verify certificate: x509: c",  # the rest is Go's own, as below
        ),
        (
            lambda: hooks.serving(["127.0.0.2"]),
            "tls: failed to verify certificate: x509: certificate is valid for ",
        ),
    ],
    ids=["authority", "no address", "another address"],
)
async def test_a_webhook_that_is_somebody_else(
    client: Client, namespace: str, context: Any, words: str
) -> None:
    made: ssl.SSLContext = context()
    async with hooks.served(made) as server:
        server.hooks["/hook"] = Hook()
        url = server.url("/hook")
        config = {"url": url, "caBundle": hooks.bundle()}
        async with hooks.one(client, VALIDATING, namespace, clientConfig=config):
            status = await refused(client, namespace)
    assert status.message.startswith(f'{NOT_CALLED}Post "{url}?timeout=10s": {words}')
    assert not server.order


async def test_an_authority_that_is_none(client: Client, namespace: str) -> None:
    async with hooks.served() as server:
        config = {"url": server.url("/hook"), "caBundle": "bm90aGluZw=="}
        async with hooks.one(client, VALIDATING, namespace, clientConfig=config):
            status = await refused(client, namespace)
    assert "unable to load root certificates: unable to parse bytes as PEM block" in status.message


async def test_a_service_that_is_none(client: Client, namespace: str) -> None:
    service = {"namespace": namespace, "name": "nobody", "path": "/hook"}
    config = {"service": service, "caBundle": hooks.bundle()}
    async with hooks.one(client, VALIDATING, namespace, clientConfig=config):
        status = await refused(client, namespace)
    assert status.message == (
        f'{NOT_CALLED}Post "https://nobody.{namespace}.svc:443/hook?timeout=10s": service "nobody" not found'
    )
