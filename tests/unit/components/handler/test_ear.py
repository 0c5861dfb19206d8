"""The ear of a launcher: who speaks is known by where it speaks."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from kubevirt.api.core.event import Event
from kubevirt.api.core.references import ObjectReference
from kubevirt.api.meta import ObjectMeta
from kubevirt.base.files import Root
from kubevirt.components.handler.launchers import ear
from kubevirt.components.handler.launchers.identity import Identity, is_uid
from kubevirt.rpc import notify, reports
from kubevirt.rpc.calling import Caller
from kubevirt.rpc.errors import Refused

WHOSE = Identity(namespace="default", name="testvm", uid="vmi-1", pod="pod-1")


class Listener:
    def __init__(self) -> None:
        self.reports: list[tuple[str, bool]] = []
        self.events: list[Event] = []

    def heard(self, report: reports.Domain, *, is_last: bool) -> None:
        self.reports.append((report.status.status, is_last))

    def happened(self, event: Event) -> None:
        self.events.append(event)


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
async def launcher(tmp_path: Path, listener: Listener) -> AsyncIterator[notify.Handler]:
    with Root.open(tmp_path) as public:
        async with (
            ear.listening(public, WHOSE, listener, os.getuid()),
            Caller(str(tmp_path / ear.NAME), "the handler") as caller,
        ):
            yield notify.Handler(caller)


def a_report(uid: str = "vmi-1") -> bytes:
    return reports.encoded(
        reports.Domain(
            object_meta=reports.ObjectMeta(uid=uid), status=reports.Status(status="Running")
        )
    )


def an_event() -> Event:
    return Event(reason="IOerror", involved_object=ObjectReference(), metadata=ObjectMeta())


async def test_what_a_launcher_tells_is_heard(launcher: notify.Handler, listener: Listener) -> None:
    assert await launcher.versions() == ["v1"]
    await launcher.domain_event(reports.ADDED, a_report())
    await launcher.domain_event(reports.DELETED, a_report())
    await launcher.kubernetes_event(msgspec.json.encode(an_event()))
    assert listener.reports == [("Running", False), ("Running", True)]
    assert [each.reason for each in listener.events] == ["IOerror"]


async def test_a_report_of_another_instance_is_refused(
    launcher: notify.Handler, listener: Listener
) -> None:
    with pytest.raises(Refused, match="of another instance"):
        await launcher.domain_event(reports.DELETED, a_report("vmi-2"))
    assert listener.reports == []


async def test_what_is_too_large_or_no_report_is_refused(
    launcher: notify.Handler, listener: Listener
) -> None:
    with pytest.raises(Refused, match="too large"):
        await launcher.domain_event(reports.ADDED, b" " * (ear.REPORT_LIMIT + 1))
    with pytest.raises(Refused, match="cannot be understood"):
        await launcher.domain_event(reports.ADDED, b"[]")
    with pytest.raises(Refused, match="too large"):
        await launcher.kubernetes_event(b" " * (ear.EVENT_LIMIT + 1))
    assert listener.reports == []


async def test_a_link_under_the_ears_name_is_replaced_and_not_followed(
    tmp_path: Path, listener: Listener
) -> None:
    (tmp_path / "elsewhere").write_text("mine")
    (tmp_path / ear.NAME).symlink_to("elsewhere")
    with Root.open(tmp_path) as public:
        async with ear.listening(public, WHOSE, listener, os.getuid()):
            assert (tmp_path / ear.NAME).is_socket()
    assert (tmp_path / "elsewhere").read_text() == "mine"


@pytest.mark.parametrize("text", ["", "..", "a/b", "-a", "x" * 64, "a\n"])
def test_what_is_no_uid_names_no_folder(text: str) -> None:
    assert not is_uid(text)
