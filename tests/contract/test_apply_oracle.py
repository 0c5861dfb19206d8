"""Server-side apply, held against a real server: the same writes, the same objects and owners."""

from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.twins import Object, Twins, define_racks

from kubevirt.kube.client import Client

_numbers = count()


@pytest.fixture(autouse=True)
async def _racks_are_known(client: Client) -> None:
    await define_racks(client)


@pytest.fixture
def twins(client: Client) -> Twins:
    return _new(client)


def _new(client: Client) -> Twins:
    return Twins(client, "default", f"rack-{next(_numbers)}")


UNITS = [{"name": "top", "height": 1}, {"name": "low"}]


async def test_fields_that_are_applied_no_more_are_removed(twins: Twins) -> None:
    await twins.apply(
        "ann", {"size": 1, "tags": ["x", "y"], "units": UNITS, "ports": [{"port": 80}]}
    )
    await twins.apply("ann", {"tags": ["y"], "units": [{"name": "low"}]})
    await twins.apply("ann", {})
    await twins.apply("ann")


async def test_an_apply_that_says_the_same_changes_nothing(twins: Twins) -> None:
    said = {"size": 1, "door": {"colour": "red"}, "units": UNITS}
    await twins.apply("ann", said)
    await twins.apply("ann", said)
    await twins.update("bob", lambda rack: rack)


async def test_managers_share_what_both_say_and_keep_it_until_the_last_lets_go(
    twins: Twins,
) -> None:
    await twins.apply("ann", {"size": 1, "units": UNITS, "marks": {"a": "1"}})
    await twins.apply("bob", {"size": 1, "units": [{"name": "top", "height": 1}]})
    await twins.apply("ann", {"marks": {"a": "1"}})
    await twins.apply("bob", {"marks": {"b": "1"}})


async def test_conflicts_name_managers_and_fields(twins: Twins) -> None:
    await twins.apply("ann", {"size": 1, "units": UNITS})
    await twins.update("bob", lambda rack: rack["spec"].update(title="mine"))
    wanted = {"size": 2, "title": "no, mine", "units": [{"name": "top", "height": 7}]}
    await twins.apply("cid", wanted)
    await twins.apply("cid", {"size": 2})
    await twins.apply("cid", wanted, force=True)
    await twins.apply("ann", {"size": 1, "units": UNITS})


async def test_an_update_takes_what_it_changes(twins: Twins) -> None:
    await twins.apply("ann", {"size": 1, "marks": {"a": "1"}, "units": UNITS, "lines": ["a"]})
    await twins.update("bob", lambda rack: rack["spec"].update(size=2, marks={"b": "2"}))
    await twins.update("bob", lambda rack: rack["spec"]["units"].pop())
    await twins.update("bob", lambda rack: rack["spec"].pop("lines"))
    await twins.apply("ann", {"size": 1}, force=True)


async def test_items_keep_their_place_unless_the_configuration_wants_another(
    twins: Twins,
) -> None:
    names = ["one", "two", "three", "four", "five"]
    await twins.apply("ann", {"units": [{"name": name} for name in names], "tags": names})
    await twins.apply("bob", {"units": [{"name": "five"}, {"name": "six"}, {"name": "two"}]})
    await twins.apply("bob", {"tags": ["zero", "four", "two", "nine"]})
    await twins.apply("cid", {"tags": ["two", "ten", "three", "one"]})


async def test_status_and_spec_have_owners_of_their_own(twins: Twins) -> None:
    await twins.create("ann", {"size": 1})
    await twins.update("bob", _set_status, subresource="status")
    await twins.apply("ann", {"size": 1}, status={"phase": "ignored"}, force=True)
    status = {"conditions": [{"type": "Lit", "reason": "r"}, {"type": "Hot"}]}
    await twins.apply("cid", status=status, subresource="status")
    await twins.apply("cid", {"size": 9}, status={"conditions": []}, subresource="status")


def _set_status(rack: Object) -> None:
    rack["status"] = {"phase": "on", "conditions": [{"type": "Lit", "status": "True"}]}


async def test_metadata_is_owned_too(twins: Twins) -> None:
    await twins.create("ann", {}, labels={"a": "b"}, finalizers=["example.org/a"])
    await twins.apply(
        "bob",
        labels={"c": "d"},
        annotations={"x/y": "z"},
        finalizers=["example.org/b", "example.org/a"],
        ownerReferences=[_owner("1"), _owner("2")],
    )
    await twins.apply("bob", labels={"a": "b"}, ownerReferences=[_owner("2", name="other")])


def _owner(uid: str, name: str = "x") -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid}


async def test_what_defaults_fill_in_belongs_to_nobody_who_applied(twins: Twins) -> None:
    await twins.apply("ann", {"door": {"colour": "red"}, "ports": [{"port": 1}, {"port": 2}]})
    await twins.apply("bob", {"room": "cellar", "door": {"width": 90}})
    await twins.apply("ann", {"ports": [{"port": 2, "protocol": "TCP", "name": "two"}]})


async def test_atomic_values_are_owned_as_a_whole(twins: Twins) -> None:
    await twins.apply("ann", {"limits": {"a": 1}, "lease": {"from": "a"}, "lines": ["a", "b"]})
    await twins.apply("bob", {"limits": {"b": 1}, "lines": ["c"], "grid": [[1], [2]]})
    await twins.apply("bob", {"limits": {"b": 1}, "lease": {"until": "b"}}, force=True)
    await twins.apply("ann", {"lines": ["a", "b"]})


async def test_what_no_schema_knows_merges_by_what_it_looks_like(twins: Twins) -> None:
    await twins.apply("ann", {"free": {"a": {"b": [1, 2], "c": "d"}}, "open": {"x": {"y": 1}}})
    await twins.apply("bob", {"free": {"a": {"e": None}}, "open": {"known": "k", "deep": {"z": 1}}})
    await twins.apply("ann", {"free": {"a": "scalar now"}, "open": {"x": {}}})
    await twins.update(
        "cid", lambda rack: rack["spec"].update(free={"a": [{"list": 1}], "b": True})
    )
    await twins.update("cid", lambda rack: rack["spec"].update(free={"a": {}, "b": 1}))
    await twins.apply("ann", {"free": {"a": {"b": {"c": {}}}}}, force=True)


async def test_an_embedded_object_has_metadata_of_its_own(twins: Twins) -> None:
    guest = {"apiVersion": "v1", "kind": "Any", "metadata": {"name": "g", "finalizers": ["a/b"]}}
    await twins.apply("ann", {"guest": guest | {"spec": {"a": [1]}}})
    await twins.apply("bob", {"guest": {"metadata": {"finalizers": ["c/d"]}, "spec": {"b": 1}}})
    await twins.apply("ann", {"guest": guest})


async def test_nulls_are_said_too(twins: Twins) -> None:
    await twins.apply("ann", {"units": UNITS, "marks": {"a": "1"}, "size": 1, "maybe": "so"})
    await twins.apply("ann", {"units": None, "marks": None, "size": None, "maybe": None})
    await twins.apply("bob", {"units": [], "marks": {}, "tags": [], "lines": [], "free": {}})


async def test_owners_may_be_forgotten(twins: Twins) -> None:
    await twins.create("ann", {"size": 1})
    await twins.apply("bob", {"title": "t"})
    await twins.update("ann", lambda rack: rack["metadata"].update(managedFields=[{}]))
    await twins.update("ann", lambda rack: rack["spec"].update(size=2))
    await twins.apply("bob", {"title": "other"})
    await twins.apply("bob", {"title": "other"}, force=True)


async def test_owners_may_be_stated(twins: Twins) -> None:
    await twins.create("ann", {"size": 1, "title": "t"})

    def give_to_bob(rack: Object) -> None:
        rack["metadata"]["managedFields"][0]["manager"] = "bob"

    await twins.update("cid", give_to_bob)
    await twins.apply("ann", {"size": 2})

    def spoil(rack: Object) -> None:
        rack["metadata"]["managedFields"][0]["fieldsType"] = "FieldsV7"

    await twins.update("cid", spoil)


async def test_old_updates_become_ancient_changes(twins: Twins) -> None:
    await twins.create("u-00", {"marks": {"k": "v"}})
    for number in range(1, 14):
        await twins.update(f"u-{number:02}", _mark(f"k{number}"))
    await twins.apply("ann", {"marks": {"k": "w", "k1": "w", "k13": "w"}})


def _mark(name: str) -> Any:
    return lambda rack: rack["spec"]["marks"].update({name: "v"})


async def test_owners_speak_of_the_version_they_wrote(twins: Twins) -> None:
    await twins.apply("ann", {"size": 1, "units": UNITS}, version="v2")
    await twins.update("bob", lambda rack: rack["spec"].update(title="t"), version="v2")
    await twins.apply("ann", {"units": [{"name": "low"}]}, version="v1")
    await twins.update("bob", lambda rack: rack["spec"].update(title="u", size=3), version="v1")
    await twins.apply("cid", {"title": "v", "size": 4}, version="v1")
    await twins.apply("ann", {"units": [{"name": "top"}]}, version="v2")


async def test_kubectl_takes_over_what_it_applied_on_the_client_side(twins: Twins) -> None:
    last = (
        '{"apiVersion":"rack.example/v1","kind":"Rack","metadata":{"name":"%s"},"spec":{"size":1}}'
    )
    annotation = {"kubectl.kubernetes.io/last-applied-configuration": last % twins.name}
    await twins.create(
        "kubectl-client-side-apply", {"size": 1, "title": "a"}, annotations=annotation
    )
    await twins.apply("ann", {"size": 2})
    await twins.apply("kubectl", {"size": 2})
    await twins.apply("kubectl", {"size": 2, "title": "<b>"})
    await twins.apply("kubectl", {"size": 3, "title": "a"})


@pytest.mark.parametrize(
    "spec",
    [
        {"nothing": 1},
        {"tags": ["a", "a"]},
        {"tags": [1]},
        {"tags": [None]},
        {"tags": [{"a": "b"}]},
        {"size": "big"},
        {"title": 1},
        {"locked": "yes"},
        {"either": {"a": 1}},
        {"door": ["a"]},
        {"lines": {"a": 1}},
        {"units": [{"height": 1}]},
        {"units": [None]},
        {"units": ["top"]},
        {"units": [{"name": "top", "height": "tall"}]},
        {"ports": [{"port": 1}, {"port": 1, "protocol": "TCP"}]},
        {"door": {"handle": {"side": {"a": 1}}}},
    ],
    ids=str,
)
async def test_a_configuration_that_cannot_be_merged_is_refused(twins: Twins, spec: Any) -> None:
    await twins.apply("ann", {"size": 1})
    await twins.apply("ann", spec)


async def test_an_apply_that_is_none_is_refused(twins: Twins) -> None:
    await twins.apply("ann", {"size": 1}, managedFields=[])
    await twins.apply("ann", {"size": 1}, managedFields=[{"manager": "x"}])


# Writes that nobody thought of

_texts = st.sampled_from(["a", "b", "c<d>"])
_ports = st.lists(
    st.fixed_dictionaries(
        {"port": st.integers(1, 3)},
        optional={
            "protocol": st.sampled_from(["TCP", "UDP"]),
            "name": _texts,
            "hosts": st.lists(_texts, unique=True, max_size=2),
        },
    ),
    max_size=3,
    unique_by=lambda port: (port["port"], port.get("protocol", "TCP")),
)
_units = st.lists(
    st.fixed_dictionaries(
        {"name": _texts},
        optional={
            "height": st.integers(1, 2),
            "notes": st.dictionaries(_texts, _texts, max_size=2),
            "ports": _ports,
        },
    ),
    max_size=3,
    unique_by=lambda unit: unit["name"],
)
_anything = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | _texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_texts, inner, max_size=2),
    max_leaves=4,
)
_spec = st.fixed_dictionaries(
    {},
    optional={
        "size": st.integers(1, 3),
        "title": _texts,
        "load": st.sampled_from([1, 1.5]),
        "either": st.sampled_from([1, "1"]),
        "room": _texts,
        "maybe": st.none() | _texts,
        "door": st.fixed_dictionaries(
            {},
            optional={
                "width": st.integers(1, 2),
                "colour": _texts,
                "handle": st.fixed_dictionaries({}, optional={"side": _texts, "kind": _texts}),
            },
        ),
        "marks": st.dictionaries(_texts, _texts, max_size=3),
        "limits": st.dictionaries(_texts, st.integers(1, 2), max_size=2),
        "lease": st.fixed_dictionaries({}, optional={"from": _texts, "until": _texts}),
        "tags": st.lists(_texts, unique=True, max_size=3),
        "numbers": st.lists(st.integers(9, 11), unique=True, max_size=3),
        "lines": st.lists(_texts, max_size=2),
        "ports": _ports,
        "units": _units,
        "free": st.dictionaries(_texts, _anything, max_size=2),
        "open": st.fixed_dictionaries({}, optional={"known": _texts, "other": _anything}),
    },
)
_managers = st.sampled_from(["ann", "bob", "cid"])
_writes = st.lists(
    st.tuples(
        st.just("apply"), _managers, _spec, st.booleans(), st.sampled_from(["v1", "v1", "v2"])
    )
    | st.tuples(
        st.sampled_from(["update", "merge"]),
        _managers,
        _spec,
        st.just(False),
        st.sampled_from(["v1", "v2"]),
    ),
    min_size=2,
    max_size=7,
)


@given(writes=_writes)
@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
async def test_any_writes_by_anybody(
    client: Client, writes: list[tuple[str, str, Object, bool, str]]
) -> None:
    twins = _new(client)
    await twins.apply("ann", {"size": 1})
    for verb, by, spec, force, version in writes:
        if verb == "apply":
            await twins.apply(by, spec, force=force, version=version)
        elif verb == "merge":
            await twins.merge_patch(by, {"spec": spec}, version=version)
        else:
            await twins.update(by, _replace(spec), version=version)


def _replace(spec: Object) -> Any:
    return lambda rack: rack.update(spec=spec)
