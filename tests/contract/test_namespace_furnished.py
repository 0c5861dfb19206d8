"""What every namespace has: a service account, and the certificate of who vouches for the server."""

import base64
from typing import Any

import pytest
import yaml
from tests.contract.conftest import SERVICE_ACCOUNTS, Server
from tests.contract.family import LIMIT_S, Family
from tests.contract.lamps import CONFIG_MAPS

from clusterup import waiting
from kubevirt.kube.client import Client
from kubevirt.kube.patches import MergePatch

Object = dict[str, Any]

ROOT_CA = "kube-root-ca.crt"


@pytest.fixture
def family(client: Client, namespace: str) -> Family:
    return Family(client, namespace)


async def test_every_namespace_has_a_service_account(family: Family) -> None:
    first = await family.appears("default", SERVICE_ACCOUNTS)
    assert first.keys() - {"kind", "apiVersion"} == {"metadata"}
    await family.client.delete(SERVICE_ACCOUNTS, "default", family.namespace)
    await family.appears("default", SERVICE_ACCOUNTS, first["metadata"]["uid"])


async def test_every_namespace_has_what_its_pods_need_to_trust_the_server(
    family: Family, server: Server
) -> None:
    found = await family.appears(ROOT_CA, CONFIG_MAPS)
    assert found["data"] == {"ca.crt": _authority(server)}
    assert found["metadata"]["annotations"] == {
        "kubernetes.io/description": (
            "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
            "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
            "guaranteed across distributions of Kubernetes clusters."
        )
    }
    managers = [each["manager"] for each in found["metadata"]["managedFields"]]
    assert managers == ["kube-controller-manager"]
    await family.client.delete(CONFIG_MAPS, ROOT_CA, family.namespace)
    await family.appears(ROOT_CA, CONFIG_MAPS, found["metadata"]["uid"])


def _authority(server: Server) -> str:
    document = yaml.safe_load(server.kubeconfig.read_text())
    data: str = document["clusters"][0]["cluster"]["certificate-authority-data"]
    return base64.b64decode(data).decode()


@pytest.mark.parametrize(
    "change",
    [
        {"data": {"ca.crt": "mine"}},
        {"data": {"more": "mine"}},
        {"metadata": {"annotations": {"kubernetes.io/description": None}}},
    ],
)
async def test_what_is_published_cannot_be_changed_for_long(family: Family, change: Object) -> None:
    first = await family.appears(ROOT_CA, CONFIG_MAPS)
    await family.client.patch(CONFIG_MAPS, ROOT_CA, MergePatch(change), family.namespace)

    async def is_back() -> bool:
        found = await family.get(ROOT_CA) or {}
        annotations = found["metadata"].get("annotations")
        return found["data"] == first["data"] and bool(annotations)

    await waiting.until(is_back, limit_s=LIMIT_S, what="it is as it was")
