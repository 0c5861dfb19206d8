"""create, patch, apply, replace and delete as a server really does them."""

import json
from datetime import datetime
from typing import Any

import pytest
from tests.contract.lamps import (
    CONFIG_MAPS,
    OLD_LAMPS,
    PODS,
    TYPED_CONFIG_MAPS,
    ConfigMap,
    a_config_map,
    a_lamp,
    a_pod,
)

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import (
    AlreadyExists,
    ApplyConflict,
    BadRequest,
    Conflict,
    Invalid,
    NotFound,
    UnsupportedMediaType,
)
from kubevirt.kube.http.warnings import Warnings
from kubevirt.kube.patches import Apply, JsonPatch, MergePatch, StrategicMergePatch, pointer

Lamps = Resource[dict[str, Any]]


@pytest.fixture
async def one(client: Client, namespace: str) -> ConfigMap:
    """A config map to be changed."""
    made = await client.create(CONFIG_MAPS, a_config_map("one", colour="red"), namespace)
    return ConfigMap(ObjectMeta(name="one", uid=made["metadata"]["uid"]), made["data"])


async def data(client: Client, namespace: str, name: str = "one") -> dict[str, str]:
    return (await client.get(TYPED_CONFIG_MAPS, name, namespace)).data


# create


async def test_a_typed_object_is_created_and_comes_back(client: Client, namespace: str) -> None:
    wanted = ConfigMap(ObjectMeta(name="one", namespace=namespace, labels={"a": "b"}), {"x": "y"})
    made = await client.create(TYPED_CONFIG_MAPS, wanted)
    assert made.data == {"x": "y"}
    assert made.metadata.labels == {"a": "b"}
    assert made.metadata.uid


async def test_a_name_may_be_left_to_the_server(client: Client, namespace: str) -> None:
    made = await client.create(CONFIG_MAPS, {"metadata": {"generateName": "x-"}}, namespace)
    assert made["metadata"]["name"].startswith("x-")


async def test_a_name_that_is_taken_is_a_conflict(
    client: Client, namespace: str, one: ConfigMap
) -> None:
    with pytest.raises(AlreadyExists, match='configmaps "one" already exists'):
        await client.create(CONFIG_MAPS, a_config_map("one"), namespace)


async def test_a_missing_namespace_is_named(client: Client) -> None:
    with pytest.raises(NotFound, match='namespaces "nowhere" not found'):
        await client.create(CONFIG_MAPS, a_config_map("one"), "nowhere")


async def test_a_rule_that_is_broken_names_the_field(
    client: Client, namespace: str, lamps: Lamps
) -> None:
    with pytest.raises(Invalid) as caught:
        await client.create(lamps, a_lamp("hall", watts=1000), namespace)
    assert [cause.field for cause in caught.value.causes] == ["spec.watts"]
    assert "should be less than or equal to 100" in str(caught.value)


async def test_a_dry_run_checks_everything_and_stores_nothing(
    client: Client, namespace: str, one: ConfigMap
) -> None:
    made = await client.create(CONFIG_MAPS, a_config_map("two"), namespace, dry_run=True)
    assert made["metadata"]["uid"]
    with pytest.raises(NotFound):
        await client.get(CONFIG_MAPS, "two", namespace)
    with pytest.raises(AlreadyExists):
        await client.create(CONFIG_MAPS, a_config_map("one"), namespace, dry_run=True)
    changed = await client.patch(
        CONFIG_MAPS, "one", MergePatch({"data": {"colour": "blue"}}), namespace, dry_run=True
    )
    assert changed["data"] == {"colour": "blue"}
    await client.delete(CONFIG_MAPS, "one", namespace, dry_run=True)
    assert await data(client, namespace) == {"colour": "red"}


async def test_unknown_fields_are_ignored_warned_of_or_refused(
    client: Client, namespace: str, lamps: Lamps
) -> None:
    heard = Warnings()
    listening = client.heard_by(heard)
    wrong = a_lamp("hall", shade="green")
    await listening.create(lamps, wrong, namespace, dry_run=True, field_validation="Ignore")
    assert list(heard) == []
    await listening.create(lamps, wrong, namespace, dry_run=True, field_validation="Warn")
    assert list(heard) == ['unknown field "spec.shade"']
    with pytest.raises(BadRequest, match=r'unknown field "spec\.shade"'):
        await listening.create(lamps, wrong, namespace, dry_run=True, field_validation="Strict")


async def test_a_deprecated_version_is_warned_of(
    client: Client, namespace: str, lamps: Lamps
) -> None:
    heard = Warnings()
    await client.heard_by(heard).list(OLD_LAMPS, namespace)
    assert list(heard) == ["light the v1 lamp instead"]


# patch


async def test_a_merge_patch_sets_and_removes(
    client: Client, namespace: str, one: ConfigMap
) -> None:
    patch = MergePatch({"data": {"colour": None, "shape": "round"}})
    changed = await client.patch(TYPED_CONFIG_MAPS, "one", patch, namespace)
    assert changed.data == {"shape": "round"}


async def test_a_merge_patch_with_an_old_version_is_a_conflict(
    client: Client, namespace: str, one: ConfigMap
) -> None:
    old = (await client.get(TYPED_CONFIG_MAPS, "one", namespace)).metadata.resource_version
    await client.patch(CONFIG_MAPS, "one", MergePatch({"data": {"n": "1"}}), namespace)
    late = MergePatch({"metadata": {"resourceVersion": old}, "data": {"n": "2"}})
    with pytest.raises(Conflict, match="the object has been modified"):
        await client.patch(CONFIG_MAPS, "one", late, namespace)


async def test_a_json_patch_goes_on_only_if_its_test_holds(
    client: Client, namespace: str, one: ConfigMap
) -> None:
    colour = pointer("data", "colour")
    to_blue = JsonPatch().test(colour, "red").replace(colour, "blue").add("/data/a~1b", "c")
    with pytest.raises(Invalid):  # no such key may be in a config map: nothing is done
        await client.patch(CONFIG_MAPS, "one", to_blue, namespace)
    to_blue = JsonPatch().test(colour, "red").replace(colour, "blue")
    await client.patch(CONFIG_MAPS, "one", to_blue, namespace)
    with pytest.raises(Invalid):
        await client.patch(CONFIG_MAPS, "one", to_blue, namespace)
    assert await data(client, namespace) == {"colour": "blue"}
    label = pointer("metadata", "labels", "example.org/a")
    labelled = await client.patch(
        TYPED_CONFIG_MAPS,
        "one",
        JsonPatch().add("/metadata/labels", {}).add(label, "b"),
        namespace,
    )
    assert labelled.metadata.labels == {"example.org/a": "b"}


async def test_a_strategic_patch_merges_lists_by_their_keys(
    client: Client, namespace: str, lamps: Lamps
) -> None:
    await client.create(PODS, a_pod("web"), namespace)
    patch = StrategicMergePatch({"spec": {"containers": [{"name": "main", "image": "other"}]}})
    changed = await client.patch(PODS, "web", patch, namespace)
    assert [(c["name"], c["image"]) for c in changed["spec"]["containers"]] == [("main", "other")]
    await client.create(lamps, a_lamp("hall"), namespace)
    with pytest.raises(UnsupportedMediaType):
        await client.patch(lamps, "hall", StrategicMergePatch({"spec": {}}), namespace)


async def test_a_patch_of_nothing_changes_nothing(
    client: Client, namespace: str, one: ConfigMap
) -> None:
    before = await client.get(TYPED_CONFIG_MAPS, "one", namespace)
    after = await client.patch(
        TYPED_CONFIG_MAPS, "one", MergePatch({"data": {"colour": "red"}}), namespace
    )
    assert after.metadata.resource_version == before.metadata.resource_version


# apply


async def test_an_apply_creates_and_later_removes_what_is_no_longer_wanted(
    client: Client, namespace: str
) -> None:
    both = Apply({"data": {"a": "1", "b": "2"}})
    await client.patch(CONFIG_MAPS, "one", both, namespace, field_manager="ann")
    await client.patch(
        CONFIG_MAPS, "one", Apply({"data": {"a": "1"}}), namespace, field_manager="ann"
    )
    assert await data(client, namespace) == {"a": "1"}
    found = await client.get(CONFIG_MAPS, "one", namespace)
    [entry] = found["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("ann", "Apply")


async def test_an_apply_to_anothers_field_names_the_manager_and_can_be_forced(
    client: Client, namespace: str, lamps: Lamps
) -> None:
    await client.patch(lamps, "hall", Apply(a_lamp("hall", 40)), namespace, field_manager="ann")
    mine = Apply({"spec": {"watts": 60}})
    with pytest.raises(ApplyConflict) as caught:
        await client.patch(lamps, "hall", mine, namespace, field_manager="bob")
    assert caught.value.owners == {".spec.watts": "ann"}
    assert '"ann"' in str(caught.value)
    taken = await client.patch(lamps, "hall", mine, namespace, field_manager="bob", force=True)
    assert taken["spec"]["watts"] == 60


async def test_a_field_manager_is_recorded_for_every_write(client: Client, namespace: str) -> None:
    one = a_config_map("one", colour="red")
    await client.create(CONFIG_MAPS, one, namespace, field_manager="ann")
    changed = await client.patch(
        CONFIG_MAPS, "one", MergePatch({"data": {"a": "b"}}), namespace, field_manager="bob"
    )
    managers = {entry["manager"] for entry in changed["metadata"]["managedFields"]}
    assert managers == {"ann", "bob"}


# replace


async def test_a_raw_object_can_be_replaced_unless_it_changed_meanwhile(
    client: Client, namespace: str, one: ConfigMap
) -> None:
    read = await client.get(CONFIG_MAPS, "one", namespace)
    await client.replace(CONFIG_MAPS, "one", {**read, "data": {"x": "y"}}, namespace)
    assert await data(client, namespace) == {"x": "y"}
    with pytest.raises(Conflict):
        await client.replace(CONFIG_MAPS, "one", {**read, "data": {}}, namespace)


# delete


async def test_what_is_deleted_is_gone(client: Client, namespace: str, one: ConfigMap) -> None:
    assert await client.delete(CONFIG_MAPS, "one", namespace) is None
    with pytest.raises(NotFound):
        await client.delete(CONFIG_MAPS, "one", namespace)


async def test_only_the_very_object_is_deleted(
    client: Client, namespace: str, one: ConfigMap
) -> None:
    with pytest.raises(Conflict, match="UID in the precondition"):
        await client.delete(CONFIG_MAPS, "one", namespace, uid="another")
    with pytest.raises(Conflict, match="ResourceVersion in the precondition"):
        await client.delete(CONFIG_MAPS, "one", namespace, resource_version="1")
    assert await client.delete(CONFIG_MAPS, "one", namespace, uid=one.metadata.uid) is None


async def test_a_finalizer_holds_an_object_until_it_is_removed(
    client: Client, namespace: str
) -> None:
    held = a_config_map("held")
    held["metadata"]["finalizers"] = ["example.org/hold"]
    await client.create(CONFIG_MAPS, held, namespace)
    going = await client.delete(TYPED_CONFIG_MAPS, "held", namespace)
    assert going is not None
    assert isinstance(going.metadata.deletion_timestamp, datetime)
    free = MergePatch({"metadata": {"finalizers": None}})
    await client.patch(CONFIG_MAPS, "held", free, namespace)
    with pytest.raises(NotFound):
        await client.get(CONFIG_MAPS, "held", namespace)


async def test_dependants_may_be_waited_for_or_left_behind(client: Client, namespace: str) -> None:
    for propagation, finalizer in [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")]:
        held = a_config_map(propagation.lower())
        held["metadata"]["finalizers"] = ["example.org/hold"]
        await client.create(CONFIG_MAPS, held, namespace)
        going = await client.delete(
            TYPED_CONFIG_MAPS,
            propagation.lower(),
            namespace,
            propagation=propagation,  # type: ignore[arg-type]  # one of the literals
        )
        assert going is not None
        assert finalizer in going.metadata.finalizers
        free = MergePatch({"metadata": {"finalizers": None}})
        await client.patch(CONFIG_MAPS, propagation.lower(), free, namespace)


async def test_a_grace_period_is_what_was_asked_for(client: Client, namespace: str) -> None:
    pod = a_pod("web")
    pod["spec"]["nodeName"] = f"node-of-{namespace}"  # so that somebody would have to end it
    await client.create(PODS, pod, namespace)
    going = await client.delete(PODS, "web", namespace, grace_period_s=77)
    assert going is not None
    assert going["metadata"]["deletionGracePeriodSeconds"] == 77
    assert await client.delete(PODS, "web", namespace, grace_period_s=0)
    with pytest.raises(NotFound):
        await client.get(PODS, "web", namespace)


async def test_a_collection_is_deleted_by_its_labels(client: Client, namespace: str) -> None:
    for number in range(4):
        labels = {"parity": "odd" if number % 2 else "even"}
        await client.create(CONFIG_MAPS, a_config_map(f"cm-{number}", labels), namespace)
    for is_dry, left in ((True, ["cm-0", "cm-1", "cm-2", "cm-3"]), (False, ["cm-0", "cm-2"])):
        await client.delete_collection(
            CONFIG_MAPS, namespace, label_selector="parity=odd", dry_run=is_dry
        )
        found = await client.list(TYPED_CONFIG_MAPS, namespace, label_selector="parity")
        assert [each.metadata.name for each in found.items] == left


# status and scale


async def test_status_and_the_rest_are_written_apart(
    client: Client, namespace: str, lamps: Lamps
) -> None:
    await client.create(lamps, {**a_lamp("hall"), "status": {"lit": True}}, namespace)
    both = MergePatch({"spec": {"watts": 60}, "status": {"lit": True}})
    assert "status" not in await client.patch(lamps, "hall", both, namespace)
    after = await client.patch_status(
        lamps, "hall", MergePatch({"spec": {"watts": 99}, "status": {"lit": True}}), namespace
    )
    assert (after["spec"]["watts"], after["status"]) == (60, {"lit": True})
    assert after["metadata"]["generation"] == 2
    read = await client.get(lamps, "hall", namespace, subresource="status")
    assert read["status"] == {"lit": True}
    applied = await client.patch_status(
        lamps, "hall", Apply({"status": {"bulbs": 2}}), namespace, field_manager="ann"
    )
    assert applied["status"] == {"lit": True, "bulbs": 2}


async def test_a_scale_is_read_and_written_without_the_object(
    client: Client, namespace: str, lamps: Lamps
) -> None:
    await client.create(lamps, a_lamp("hall", bulbs=1), namespace)
    scale = await client.get_scale(lamps, "hall", namespace)
    assert scale.spec.replicas == 1
    changed = await client.patch_scale(
        lamps, "hall", 3, namespace, resource_version=scale.metadata.resource_version
    )
    assert changed.spec.replicas == 3
    assert (await client.get(lamps, "hall", namespace))["spec"]["bulbs"] == 3
    with pytest.raises(Conflict):
        await client.patch_scale(
            lamps, "hall", 5, namespace, resource_version=scale.metadata.resource_version
        )


async def test_whoever_writes_a_scale_owns_the_field_that_it_stands_for(
    client: Client, namespace: str, lamps: Lamps
) -> None:
    path = f"/apis/house.example/v1/namespaces/{namespace}/lamps/hall"
    rest: Any = {"f:spec": {".": {}, "f:watts": {}}}
    bulbs: Any = {"f:spec": {"f:bulbs": {}}}

    async def owners() -> list[Any]:
        found = (await client.get(lamps, "hall", namespace))["metadata"]["managedFields"]
        assert all(each["apiVersion"] == "house.example/v1" for each in found)
        # Since when somebody owns a field by way of the scale, nobody knows.
        assert all(("time" in each) is ("subresource" not in each) for each in found)
        names = ("manager", "operation", "subresource")
        return [
            (" ".join(each[name] for name in names if name in each), each["fieldsV1"])
            for each in found
        ]

    async def patched(by: str) -> None:
        media, params = "application/merge-patch+json", {"fieldManager": by}
        change = {"spec": {"replicas": 2}}
        await client.raw("PATCH", f"{path}/scale", change, content_type=media, params=params)

    await client.create(lamps, a_lamp("hall", bulbs=1), namespace, field_manager="ann")
    await patched("bob")
    ann = ("ann Update", rest)
    assert await owners() == [("bob Update scale", bulbs), ann]
    scale = json.loads(await client.raw("GET", f"{path}/scale"))
    assert "managedFields" not in scale["metadata"]
    scale["spec"]["replicas"] = 3
    await client.raw("PUT", f"{path}/scale", scale, params={"fieldManager": "carl"})
    assert await owners() == [("carl Update scale", bulbs), ann]
    lamp = Apply({"spec": {"bulbs": 4, "watts": 40}})
    await client.patch(lamps, "hall", lamp, namespace, field_manager="dora", force=True)
    dora: Any = {"f:bulbs": {}, "f:watts": {}}
    assert await owners() == [("dora Apply", {"f:spec": dora}), ann]
    await patched("bob")
    dora = {"f:watts": {}}
    expected = [("dora Apply", {"f:spec": dora}), ("bob Update scale", bulbs), ann]
    assert await owners() == expected
    await patched("ann")
    assert await owners() == expected, "nothing is changed"
