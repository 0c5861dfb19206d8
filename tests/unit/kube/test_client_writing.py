"""create, patch, replace, delete: what is sent."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.kube.scripted_server import ScriptedServer, refuses, says

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.resource import Resource
from kubevirt.api.struct import Struct
from kubevirt.kube.access.config import Config
from kubevirt.kube.client import Client
from kubevirt.kube.errors import TooManyRequests
from kubevirt.kube.patches import Apply, JsonPatch, MergePatch, StrategicMergePatch, pointer


class Lamp(Struct, frozen=True, kw_only=True):
    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    lit_since: datetime | None = None
    watts: int = 0


LAMPS = Resource("house.example", "v1", "lamps", "Lamp", True, Lamp)
HOUSES = Resource("house.example", "v1", "houses", "House", False, dict[str, Any])
PATH = "/apis/house.example/v1/namespaces/home/lamps"
HALL: dict[str, Any] = {"metadata": {"name": "hall", "namespace": "home"}}


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer().running() as server:
        for method in ("GET", "PUT", "PATCH", "DELETE"):
            for part in ("", "/status", "/scale"):
                server.on(method, f"{PATH}/hall{part}", says(HALL))
        server.on("POST", PATH, says(HALL, code=201))
        server.on("POST", "/apis/house.example/v1/houses", says(HALL, code=201))
        yield server


@pytest.fixture
async def client(server: ScriptedServer) -> AsyncIterator[Client]:
    async with Client(Config(server=server.url)) as client:
        yield client


async def test_a_created_object_says_what_it_is_and_nothing_needless(
    server: ScriptedServer, client: Client
) -> None:
    since = datetime(2030, 1, 1, 12, tzinfo=UTC)
    labels = MappingProxyType({"room": "hall"})
    lamp = Lamp(metadata=ObjectMeta(name="hall", labels=labels), lit_since=since)
    made = await client.create(LAMPS, lamp, "home")
    assert made.metadata.name == "hall"
    assert server.last.json == {
        "apiVersion": "house.example/v1",
        "kind": "Lamp",
        "metadata": {"name": "hall", "labels": {"room": "hall"}},
        "litSince": "2030-01-01T12:00:00Z",
    }
    assert server.last.headers["Content-Type"] == "application/json"
    assert server.last.query == {}


async def test_an_object_may_be_plain_data_and_name_its_namespace_itself(
    server: ScriptedServer, client: Client
) -> None:
    own = {**HALL, "apiVersion": "house.example/v2", "kind": "Lantern"}
    await client.create(LAMPS, own)
    assert server.last.path == PATH
    assert server.last.json == own, "what it says of itself is not overruled"


async def test_what_is_no_object_is_not_sent(server: ScriptedServer, client: Client) -> None:
    with pytest.raises(TypeError, match="is a mapping"):
        await client.create(HOUSES, ["hall"])  # type: ignore[misc]  # the mistake under test
    with pytest.raises(NotImplementedError, match="has no place in an API object"):
        await client.create(HOUSES, {"door": object()})
    assert server.seen == []


async def test_an_object_without_a_namespace_goes_nowhere(client: Client) -> None:
    with pytest.raises(ValueError, match="live in namespaces"):
        await client.create(LAMPS, Lamp())


async def test_kinds_without_namespaces_need_none(server: ScriptedServer, client: Client) -> None:
    await client.create(HOUSES, {"metadata": {"name": "hall"}})
    assert server.last.path == "/apis/house.example/v1/houses"


async def test_options_of_writes_are_sent(server: ScriptedServer, client: Client) -> None:
    await client.create(LAMPS, HALL, dry_run=True, field_manager="ann", field_validation="Strict")
    options = {"dryRun": "All", "fieldManager": "ann", "fieldValidation": "Strict"}
    assert server.last.query == options
    await client.patch(
        LAMPS,
        "hall",
        MergePatch({}),
        "home",
        dry_run=True,
        field_manager="ann",
        field_validation="Strict",
    )
    assert server.last.query == options
    await client.replace(
        LAMPS.raw,
        "hall",
        HALL,
        "home",
        dry_run=True,
        field_manager="ann",
        field_validation="Strict",
    )
    assert server.last.query == options
    assert server.last.method == "PUT"


@pytest.mark.parametrize(
    ("patch", "content_type", "body"),
    [
        (MergePatch({"watts": None}), "application/merge-patch+json", {"watts": None}),
        (MergePatch(Lamp(watts=3)), "application/merge-patch+json", {"watts": 3}),
        (
            StrategicMergePatch({"watts": 3}),
            "application/strategic-merge-patch+json",
            {"watts": 3},
        ),
        (
            JsonPatch().test("/watts", 3).replace("/watts", 4).remove("/x").add("/y", []),
            "application/json-patch+json",
            [
                {"op": "test", "path": "/watts", "value": 3},
                {"op": "replace", "path": "/watts", "value": 4},
                {"op": "remove", "path": "/x"},
                {"op": "add", "path": "/y", "value": []},
            ],
        ),
    ],
)
async def test_each_kind_of_patch_is_sent_as_what_it_is(
    server: ScriptedServer, client: Client, patch: Any, content_type: str, body: Any
) -> None:
    await client.patch(LAMPS, "hall", patch, "home")
    assert server.last.headers["Content-Type"] == content_type
    assert server.last.json == body


async def test_an_apply_says_what_it_applies_to(server: ScriptedServer, client: Client) -> None:
    await client.patch(LAMPS, "hall", Apply(Lamp(watts=3)), "home", field_manager="ann", force=True)
    assert server.last.headers["Content-Type"] == "application/apply-patch+yaml"
    assert server.last.query == {"fieldManager": "ann", "force": "true"}
    assert server.last.json == {
        "apiVersion": "house.example/v1",
        "kind": "Lamp",
        "metadata": {"name": "hall"},
        "watts": 3,
    }


async def test_an_apply_without_a_manager_and_a_forced_merge_are_mistakes(client: Client) -> None:
    with pytest.raises(ValueError, match="needs a field manager"):
        await client.patch(LAMPS, "hall", Apply({}), "home")
    with pytest.raises(ValueError, match="only an apply can be forced"):
        await client.patch(LAMPS, "hall", MergePatch({}), "home", force=True)


async def test_status_and_scale_are_written_where_they_live(
    server: ScriptedServer, client: Client
) -> None:
    await client.patch_status(LAMPS, "hall", MergePatch({"status": {"on": True}}), "home")
    assert server.last.path == f"{PATH}/hall/status"
    scale = {"metadata": {"name": "hall"}, "spec": {"replicas": 3}, "status": {"replicas": 2}}
    server.on("PATCH", f"{PATH}/hall/scale", says(scale))
    server.on("GET", f"{PATH}/hall/scale", says(scale))
    assert (await client.get_scale(LAMPS, "hall", "home")).spec.replicas == 3
    await client.patch_scale(LAMPS, "hall", 3, "home", resource_version="8")
    assert server.last.json == {"metadata": {"resourceVersion": "8"}, "spec": {"replicas": 3}}


async def test_a_delete_says_under_which_conditions(server: ScriptedServer, client: Client) -> None:
    await client.delete(
        LAMPS,
        "hall",
        "home",
        uid="u",
        resource_version="7",
        propagation="Foreground",
        grace_period_s=0,
        dry_run=True,
    )
    assert server.last.json == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": "u", "resourceVersion": "7"},
        "propagationPolicy": "Foreground",
        "gracePeriodSeconds": 0,
        "dryRun": ["All"],
    }
    await client.delete(LAMPS, "hall", "home")
    assert server.last.json == {"apiVersion": "v1", "kind": "DeleteOptions"}


async def test_a_delete_tells_gone_from_going(server: ScriptedServer, client: Client) -> None:
    going = await client.delete(LAMPS, "hall", "home")
    assert going is not None
    assert going.metadata.name == "hall"
    server.on("DELETE", f"{PATH}/hall", says({"kind": "Status", "status": "Success"}))
    assert await client.delete(LAMPS, "hall", "home") is None


async def test_a_collection_is_deleted_by_selectors_in_one_namespace(
    server: ScriptedServer, client: Client
) -> None:
    server.on("DELETE", PATH, says({"kind": "LampList", "items": []}))
    await client.delete_collection(LAMPS, "home", label_selector="a=b", field_selector="c=d")
    assert server.last.query == {"labelSelector": "a=b", "fieldSelector": "c=d"}
    with pytest.raises(ValueError, match="live in namespaces"):
        await client.delete_collection(LAMPS)


async def test_an_eviction_that_is_not_allowed_is_not_repeated(
    server: ScriptedServer, client: Client
) -> None:
    path = "/api/v1/namespaces/home/pods/web/eviction"
    cause = {"reason": "DisruptionBudget", "message": "needs 1"}
    server.on(
        "POST",
        path,
        refuses(429, "TooManyRequests", "budget", details={"causes": [cause]}, retry_after=1),
    )
    with pytest.raises(TooManyRequests) as caught:
        await client.evict("web", "home", uid="u", grace_period_s=3)
    assert caught.value.has_cause("DisruptionBudget")
    assert len(server.seen) == 1
    assert server.last.json["metadata"] == {"name": "web", "namespace": "home"}
    assert server.last.json["deleteOptions"]["preconditions"] == {"uid": "u"}


async def test_a_binding_names_pod_and_node(server: ScriptedServer, client: Client) -> None:
    server.on(
        "POST", "/api/v1/namespaces/home/pods/web/binding", says({"kind": "Status"}, code=201)
    )
    await client.bind("web", "home", "node-1", uid="u", dry_run=True)
    assert server.last.query == {"dryRun": "All"}
    assert server.last.json == {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "web", "namespace": "home", "uid": "u"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "node-1"},
    }


async def test_any_other_call_can_be_made_raw(server: ScriptedServer, client: Client) -> None:
    server.on("POST", "/apis/x/y", says({"ok": True}))
    body = await client.raw("POST", "/apis/x/y", {"a": 1}, params={"b": 2, "c": None, "d": True})
    assert msgspec.json.decode(body) == {"ok": True}
    assert server.last.query == {"b": "2", "d": "true"}
    assert server.last.json == {"a": 1}


@given(st.lists(st.text() | st.integers(min_value=0), max_size=4))
def test_a_pointer_can_be_taken_apart_again(steps: list[str | int]) -> None:
    found = pointer(*steps).split("/")[1:]
    assert [step.replace("~1", "/").replace("~0", "~") for step in found] == list(map(str, steps))
