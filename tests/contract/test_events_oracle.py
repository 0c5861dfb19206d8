"""Events, which two APIs show: what is written through one is read through the other."""

import json
from typing import Any

import pytest
from tests.contract.oracle import DRY, Oracle, made

from kubevirt.kube.client import Client

Object = dict[str, Any]
OLDER = "/api/v1/namespaces/{}/events"
NEWER = "/apis/events.k8s.io/v1/namespaces/{}/events"
THEN = "2020-01-02T03:04:05Z"
EXACTLY = "2020-01-02T03:04:05.000006Z"


@pytest.fixture
async def oracle(client: Client, records_answers: bool) -> Oracle:  # noqa: FBT001
    return Oracle("events", client, records=records_answers)


def older(**more: Any) -> Object:
    about = {"kind": "Pod", "name": "web", "namespace": "default"}
    return {"metadata": {"name": "one"}, "involvedObject": about, **more}


def newer(**more: Any) -> Object:
    about = {"kind": "Pod", "name": "web", "namespace": "default"}
    said = {
        "regarding": about,
        "eventTime": EXACTLY,
        "reportingController": "house.example/me",
        "reportingInstance": "me-1",
        "action": "Doing",
        "reason": "Because",
        "type": "Normal",
    }
    return {"metadata": {"name": "one"}, **said, **more}


OLDER_CASES = {
    "plain": older(reason="Because", message="so", type="Normal", count=2, firstTimestamp=THEN),
    "with a source": older(source={"component": "me", "host": "node01"}, lastTimestamp=THEN),
    "about nobody": {"metadata": {"name": "one"}},
    "about another namespace": older(involvedObject={"namespace": "x"}),
    "a new one that misses much": older(eventTime=EXACTLY),
    "too long": older(
        eventTime=EXACTLY,
        reportingComponent="me",
        reportingInstance="x" * 129,
        action="x" * 129,
        reason="x" * 129,
        message="x" * 1025,
    ),
    "a strange name": {**older(), "metadata": {"name": "a B"}},
}
NEWER_CASES = {
    "plain": newer(note="so"),
    "a series": newer(series={"count": 2, "lastObservedTime": EXACTLY}),
    "no time": newer(eventTime=None),
    "another type": newer(type="x"),
    "what is deprecated": newer(
        deprecatedCount=2, deprecatedFirstTimestamp=THEN, deprecatedSource={"component": "x"}
    ),
    "no series": newer(series={"count": 1}),
    "nobody reports": newer(reportingController="", action=""),
    "a strange name": {**newer(), "metadata": {"name": "a B"}},
}


@pytest.mark.parametrize("name", OLDER_CASES)
async def test_an_event_by_the_older_api(oracle: Oracle, name: str) -> None:
    await oracle.created(f"older: {name}", OLDER.format("default"), OLDER_CASES[name])


@pytest.mark.parametrize("name", NEWER_CASES)
async def test_an_event_by_the_newer_api(oracle: Oracle, name: str) -> None:
    await oracle.created(f"newer: {name}", NEWER.format("default"), NEWER_CASES[name])


@pytest.mark.parametrize("case", ["older", "newer"])
async def test_one_event_is_seen_by_both(
    oracle: Oracle, client: Client, namespace: str, case: str
) -> None:
    event = OLDER_CASES["plain"] if case == "older" else NEWER_CASES["a series"]
    body = json.loads(json.dumps(event).replace("default", namespace))
    path = OLDER if case == "older" else NEWER
    await client.raw("POST", path.format(namespace), body, params={"fieldManager": "me"})
    for api in (OLDER, NEWER):
        folder = api.format(namespace)
        one = json.loads(await client.raw("GET", f"{folder}/one"))
        name = f"{case} seen by {'older' if api is OLDER else 'newer'}"
        oracle.hold(name, json.loads(json.dumps(made(one)).replace(namespace, "NAMESPACE")))
        [item] = json.loads(await client.raw("GET", folder))["items"]
        assert item == {name: one[name] for name in one if name not in ("kind", "apiVersion")}
        field = "involvedObject.name" if api is OLDER else "regarding.name"
        for value, count in (("web", 1), ("other", 0)):
            params = {"fieldSelector": f"{field}={value}"}
            found = json.loads(await client.raw("GET", folder, params=params))
            assert len(found["items"]) == count
    await client.raw("DELETE", f"{NEWER.format(namespace)}/one")
    assert json.loads(await client.raw("GET", OLDER.format(namespace)))["items"] == []


async def test_an_event_changes_through_either(
    oracle: Oracle, client: Client, namespace: str
) -> None:
    body = json.loads(json.dumps(newer(note="so")).replace("default", namespace))
    await client.raw("POST", NEWER.format(namespace), body)
    merge = "application/merge-patch+json"
    older_path, newer_path = (f"{api.format(namespace)}/one" for api in (OLDER, NEWER))
    series = {"series": {"count": 2, "lastObservedTime": EXACTLY}}
    for name, path, patch in (
        ("a series through the newer", newer_path, series),
        ("another note through the newer", newer_path, {"note": "x"}),
        ("another message through the older", older_path, {"message": "x"}),
    ):
        found = await oracle.answer("PATCH", path, patch, content_type=merge, **DRY)
        oracle.hold(name, json.loads(json.dumps(found).replace(namespace, "NAMESPACE")))
