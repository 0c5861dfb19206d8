"""Five large CRDs, shaped like those of well-known operators, on both servers.

    certs.example        Issuer, Certificate      one of many, defaults in defaults, transitions
    monitoring.example   Monitor                  most of a pod, scale, a list in a list in a list
    data.example         DataVolume               two versions; what cannot change
                         StorageProfile           without a namespace

Many small changes of a good object are given to the server and to the pure functions.
"""

import asyncio
from functools import cache
from itertools import count
from typing import Any, Final

import msgspec
import pytest
from tests.contract.conftest import Server, config_of
from tests.contract.large import certificate_objects, data_volume_objects, monitor_objects
from tests.contract.large.certificates import CERTIFICATE, ISSUER
from tests.contract.large.data_volumes import DATA_VOLUME, STORAGE_PROFILE
from tests.contract.large.definitions import fields_of
from tests.contract.large.judging import Judge
from tests.contract.large.monitors import MONITOR
from tests.contract.large.mutations import Changes, changed
from tests.contract.pure_server import PureServer

from clusterup.light import LightCluster
from clusterup.light_embedded import EmbeddedServer
from clusterup.pytest_plugin import session_loop
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NoSuchResource

Object = dict[str, Any]
CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TABLE: Final = "application/json;as=Table;g=meta.k8s.io;v=v1"
LARGE: Final = {
    each["spec"]["names"]["kind"]: each
    for each in (ISSUER, CERTIFICATE, MONITOR, DATA_VOLUME, STORAGE_PROFILE)
}
GOOD: Final[dict[str, tuple[Object, tuple[Changes, ...]]]] = {
    "Issuer": (certificate_objects.ISSUER, certificate_objects.ISSUER_CHANGES),
    "Certificate": (certificate_objects.CERTIFICATE, certificate_objects.CERTIFICATE_CHANGES),
    "Monitor": (monitor_objects.MONITOR, monitor_objects.MONITOR_CHANGES),
    "DataVolume": (data_volume_objects.DATA_VOLUME, data_volume_objects.DATA_VOLUME_CHANGES),
    "StorageProfile": (
        data_volume_objects.STORAGE_PROFILE,
        data_volume_objects.STORAGE_PROFILE_CHANGES,
    ),
}
UPDATES: Final = {
    "Certificate": certificate_objects.CERTIFICATE_UPDATES,
    "DataVolume": data_volume_objects.DATA_VOLUME_UPDATES,
}
_numbers = count()


@pytest.fixture(autouse=True, scope="session")
def _kinds_are_known(server: Server) -> None:
    with session_loop() as loop:
        loop.run(_define(server))


async def _define(server: Server) -> None:
    async with Client(config_of(server.kubeconfig)) as client:
        for definition in LARGE.values():
            await client.raw("POST", CRDS, definition, params={"fieldValidation": "Strict"})
        async with asyncio.timeout(120):
            for definition in LARGE.values():
                await _until_served(client, definition)


async def _until_served(client: Client, definition: Object) -> None:
    spec = definition["spec"]
    paths = [
        f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}"
        for version in spec["versions"]
    ]
    while paths:
        try:
            await client.raw("GET", paths[-1])
        except NoSuchResource:
            await asyncio.sleep(0.05)
        else:
            paths.pop()


@cache
def _pure_server(kind: str) -> PureServer:
    return PureServer(LARGE[kind])


def a_judge(client: Client, kind: str, version: str = "") -> Judge:
    """Of an object that nobody has seen yet."""
    name = f"large-{next(_numbers)}"
    return Judge(client, LARGE[kind], _pure_server(kind), name, version)


@pytest.mark.parametrize("kind", LARGE)
async def test_a_large_definition_is_established(client: Client, kind: str) -> None:
    name = LARGE[kind]["metadata"]["name"]
    found = msgspec.json.decode(await client.raw("GET", f"{CRDS}/{name}"))
    conditions = {each["type"]: each["status"] for each in found["status"]["conditions"]}
    assert conditions == {"NamesAccepted": "True", "Established": "True"}
    kept = found["spec"]["versions"][0]
    given = LARGE[kind]["spec"]["versions"][0]
    assert kept["schema"] == given["schema"]
    assert kept["additionalPrinterColumns"] == given["additionalPrinterColumns"]
    assert kept.get("selectableFields", []) == given["selectableFields"]


def test_they_are_large() -> None:
    sizes = {
        kind: fields_of(each["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
        for kind, each in LARGE.items()
    }
    assert sizes["Monitor"] > 1000
    assert sizes["Issuer"] > 400
    assert sizes["DataVolume"] > 100


@pytest.mark.parametrize(
    ("kind", "changes"),
    [(kind, changes) for kind, (_, all_) in GOOD.items() for changes in all_],
    ids=lambda value: str(value)[:90],
)
async def test_an_object_is_kept_or_refused_alike(
    client: Client, kind: str, changes: Changes
) -> None:
    """Strictly, and with what is unknown dropped."""
    parts = changed(GOOD[kind][0], changes)
    judge = a_judge(client, kind)
    await judge.creation(parts, strict=True)
    await judge.creation(parts, strict=False)


@pytest.mark.parametrize("kind", GOOD)
async def test_a_good_object_is_taken(client: Client, kind: str) -> None:
    kept = await a_judge(client, kind).creation(GOOD[kind][0], strict=True)
    assert "refused" not in kept


@pytest.mark.parametrize(
    ("kind", "changes"),
    [(kind, changes) for kind, all_ in UPDATES.items() for changes in all_],
    ids=lambda value: str(value)[:90],
)
async def test_a_change_is_kept_or_refused_alike(
    client: Client, kind: str, changes: Changes
) -> None:
    judge = a_judge(client, kind)
    start = changed(GOOD[kind][0], {})
    if kind == "DataVolume":
        start["spec"]["priorityClassName"] = "high"
    await judge.creation(start, strict=True, dry_run=False)
    await judge.replacement(lambda live: changed(live, changes))


@pytest.mark.parametrize("version", ["v1beta1", "v1alpha1"])
async def test_both_versions_judge_alike(client: Client, version: str) -> None:
    judge = a_judge(client, "DataVolume", version)
    await judge.creation(data_volume_objects.DATA_VOLUME, strict=True)
    await judge.creation({"spec": {"source": {"http": {}}}}, strict=True)


async def test_applied_parts_of_a_large_object_have_owners(client: Client) -> None:
    """Containers, their ports and the classes are lists of keyed elements; selectors are atoms."""
    judge = a_judge(client, "Monitor")
    parts = monitor_objects.MONITOR
    await judge.application("ann", parts)
    port = {"containerPort": 9090, "protocol": "TCP", "name": "web"}
    mine = {"spec": {"containers": [{"name": "proxy", "ports": [port]}], "replicas": 2}}
    await judge.application("bob", mine)
    clash = {"spec": {"replicas": 5, "serviceMonitorSelector": {"matchLabels": {"b": "c"}}}}
    await judge.application("bob", clash)
    await judge.application("bob", clash, force=True)
    classes = [{"name": "slow", "relabelings": [{"action": "drop"}]}, {"name": "fast"}]
    await judge.application("cid", {"spec": {"scrapeClasses": classes}})
    await judge.application("cid", {"spec": {"scrapeClasses": classes[:1]}})
    await judge.application("ann", {"spec": {"shards": 2}})
    await judge.application("bob", {"spec": {"containers": [{"name": "proxy", "image": 5}]}})


async def test_columns_selections_and_scale(client: Client, namespace: str) -> None:
    home = f"/apis/monitoring.example/v1/namespaces/{namespace}/monitors"
    head = {"apiVersion": "monitoring.example/v1", "kind": "Monitor"}
    for name, version in (("old", "v2.0.0"), ("new", "v3.5.0")):
        parts = changed(monitor_objects.MONITOR, {"spec.version": version})
        await client.raw("POST", home, {**head, **parts, "metadata": {"name": name}})
    status = {"status": {"availableReplicas": 1, "shards": 1, "selector": "app=monitor"}}
    merge = "application/merge-patch+json"
    await client.raw("PATCH", f"{home}/new/status", status, content_type=merge)
    table = msgspec.json.decode(await client.raw("GET", home, accept=TABLE))
    names = [each["name"] for each in table["columnDefinitions"]]
    assert names == ["Name", "Version", "Desired", "Ready", "Paused", "Age"]
    assert [each["cells"][:5] for each in table["rows"]] == [
        ["new", "v3.5.0", 2, 1, None],
        ["old", "v2.0.0", 2, None, None],
    ]
    chosen = msgspec.json.decode(
        await client.raw("GET", home, params={"fieldSelector": "spec.version=v3.5.0"})
    )
    assert [each["metadata"]["name"] for each in chosen["items"]] == ["new"]
    scale = msgspec.json.decode(await client.raw("GET", f"{home}/new/scale"))
    assert scale["spec"] == {"replicas": 1}
    assert scale["status"] == {"replicas": 1, "selector": "app=monitor"}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("issuer.spec.acme", ["KIND:       Issuer", "FIELD: acme <Object>", "speaks ACME"]),
        ("cert.spec.commonName", ["FIELD: commonName <string>", "Whom it is for, in short."]),
        ("monitor.spec.scrapeInterval", ["FIELD: scrapeInterval <string>", "How often is looked."]),
        (
            "monitor.spec.containers.readinessProbe.httpGet",
            ["FIELD: httpGet <Object>", "port\t<Object> -required-"],
        ),
        ("dv.spec.source", ["FIELD: source <Object>", "one of them", "registry\t<Object>"]),
        ("storageprofile.spec.claimPropertySets", ["FIELD: claimPropertySets <[]Object>"]),
    ],
)
async def test_large_definitions_are_explained(
    server: Server, tmp_path: Any, path: str, words: list[str]
) -> None:
    assert isinstance(server, LightCluster | EmbeddedServer)
    said = await server.run_kubectl(f"--cache-dir={tmp_path}", "explain", path)
    for each in words:
        assert each in said.stdout
