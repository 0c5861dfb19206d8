"""Entries of managedFields: what they say, in what order, how many."""

import pytest

from kubevirt.apiserver.apply import managed
from kubevirt.apiserver.apply.fieldset import FieldSet
from kubevirt.apiserver.apply.managed import Manager, Owned


def _updaters(count: int) -> managed.Managed:
    return {
        managed.updater(f"u{number:02}", "v1"): Owned(
            FieldSet.of((f"f:{number:02}",)), "v1", f"2026-01-01T00:00:{number:02}Z"
        )
        for number in range(count)
    }


def test_ten_updaters_stay_and_the_oldest_of_more_become_one() -> None:
    assert (
        managed.capped(_updaters(10)) == _updaters(10) or len(managed.capped(_updaters(10))) == 10
    )
    capped = managed.capped(_updaters(12))
    names = sorted(manager.manager for manager in capped)
    assert names == ["ancient-changes", *(f"u{number:02}" for number in range(3, 12))]
    ancient = capped[managed.updater("ancient-changes", "v1")]
    assert ancient.fields == FieldSet.of(("f:00",), ("f:01",), ("f:02",))
    assert ancient.time == "2026-01-01T00:00:02Z"


def test_appliers_are_never_merged() -> None:
    appliers = {
        managed.applier(f"a{number}"): Owned(FieldSet.of(("f:x",)), "v1") for number in range(20)
    }
    assert managed.capped(appliers) is appliers


def test_appliers_come_first_then_the_oldest() -> None:
    entries = managed.encode(_updaters(3) | {managed.applier("z"): Owned(FieldSet(), "v1")})
    assert [entry["manager"] for entry in entries] == ["z", "u00", "u01", "u02"]
    assert "time" not in entries[0]


def test_an_entry_comes_back() -> None:
    entries = managed.encode(_updaters(2))
    assert managed.encode(managed.decode(entries)) == entries


@pytest.mark.parametrize("entries", [[], [{}], [{"manager": "", "fieldsV1": None}]])
def test_an_empty_list_or_entry_forgets_all_owners(entries: list[dict[str, object]]) -> None:
    assert managed.is_reset(entries)


@pytest.mark.parametrize("entries", [None, [{"manager": "x"}], [{}, {}]])
def test_anything_else_does_not(entries: list[dict[str, object]] | None) -> None:
    assert not managed.is_reset(entries)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"operation": "Guess"}, "operation must be `Apply` or `Update`"),
        ({"apiVersion": ""}, "apiVersion must not be empty"),
        ({"fieldsType": ""}, "missing fieldsType in managed fields entry 0"),
        ({"fieldsType": "FieldsV2"}, 'invalid fieldsType "FieldsV2" in managed fields entry 0'),
        ({"fieldsV1": {"spec": {}}}, "missing colon: spec"),
    ],
)
def test_entries_that_say_nothing_sensible_are_refused(
    change: dict[str, object], message: str
) -> None:
    entry = {"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", **change}
    with pytest.raises(managed.BadManagedFields, match=message):
        managed.decode([entry])


def test_managers_are_named_as_conflicts_name_them() -> None:
    assert str(managed.applier("a")) == '"a"'
    assert str(managed.updater("a", "v1", "status")) == '"a" with subresource "status" using v1'
    assert str(Manager(manager="", operation="Apply")) == '""'
