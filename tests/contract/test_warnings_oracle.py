"""Warnings with what is written, held against those of a real server."""

import pytest
from tests.contract.oracle import DRY, Oracle
from tests.contract.warning_cases import CASES

from kubevirt.kube.client import Client


@pytest.mark.parametrize("name", CASES)
async def test_what_is_hardly_meant_is_warned_of(
    client: Client,
    records_answers: bool,  # noqa: FBT001
    name: str,
) -> None:
    case = CASES[name]
    heard: list[str] = []
    listening = client.heard_by(lambda warning: heard.append(str(warning)))
    await listening.raw("POST", case.path, case.body, params=DRY)
    oracle = Oracle("warnings", client, records=records_answers)
    oracle.hold(name, {"warnings": heard})


async def test_who_changes_a_pod_is_not_told_again(client: Client, namespace: str) -> None:
    heard: list[str] = []
    listening = client.heard_by(lambda warning: heard.append(str(warning)))
    folder = f"/api/v1/namespaces/{namespace}/pods"
    spec = {"containers": [{"name": "a", "image": "a"}]}
    await listening.raw("POST", folder, {"metadata": {"name": "one.two"}, "spec": spec})
    assert len(heard) == 1
    labels = {"metadata": {"labels": {"a": "b"}}}
    merge = "application/merge-patch+json"
    await listening.raw("PATCH", f"{folder}/one.two", labels, content_type=merge)
    assert len(heard) == 1
    service = {"spec": {"ports": [{"port": 80}], "externalName": "a.example"}}
    services = f"/api/v1/namespaces/{namespace}/services"
    await listening.raw("POST", services, {"metadata": {"name": "one"}, **service})
    await listening.raw("PATCH", f"{services}/one", labels, content_type=merge)
    assert heard[1:] == ['spec.externalName is ignored when spec.type is not "ExternalName"'] * 2
