"""Open connections: counted and limited, and the last of each guest remembered."""

import pytest

from kubevirt.components.virtapi import tunnels
from kubevirt.components.virtapi.tunnels import Tunnels
from kubevirt.virt.commands.refusal import Refusal


def series(found: Tunnels, name: str) -> list[tuple[dict[str, str], float]]:
    return [
        (dict(labels), value)  # type: ignore[misc]
        for family in found.families()
        if family.name == name
        for labels, value in family.series
    ]


def test_they_are_counted_while_they_are_open() -> None:
    found = Tunnels()
    name = "kubevirt_console_active_connections"
    with found.counted("console", "home", "testvm", 17.0):
        with (
            found.counted("console", "home", "testvm", 18.0),
            found.counted("vnc", "home", "b", 19.0),
        ):
            assert series(found, name) == [({"namespace": "home", "vmi": "testvm"}, 2.0)]
        assert len(found) == 1
    assert series(found, name) == []
    last = series(found, "kubevirt_vmi_last_api_connection_timestamp_seconds")
    assert [(each["vmi"], at) for each, at in last] == [("testvm", 18.0), ("b", 19.0)]


def test_there_is_an_end_to_them() -> None:
    found = Tunnels(most=1)
    with (
        found.counted("console", "home", "a", 0.0),
        pytest.raises(Refusal, match="1 connections to guests are open already"),
        found.counted("console", "home", "b", 0.0),
    ):
        pass
    assert len(found) == 0


def test_what_is_remembered_has_an_end_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tunnels, "REMEMBERED", 2)
    found = Tunnels()
    for name in ("a", "b", "a", "c"):
        with found.counted("vnc", "home", name, 0.0):
            pass
    last = series(found, "kubevirt_vmi_last_api_connection_timestamp_seconds")
    assert [each["vmi"] for each, _ in last] == ["a", "c"]
