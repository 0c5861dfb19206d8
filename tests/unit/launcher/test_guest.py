"""What is told of a guest while it ends: one report, and that knows why."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from kubevirt.base.clock import Clock
from kubevirt.base.tasks import background
from kubevirt.components.launcher.guest import Guest
from kubevirt.components.launcher.happenings import Happenings
from kubevirt.components.launcher.notes import Notes
from kubevirt.components.launcher.notifier import Notifier
from kubevirt.components.launcher.picture import Picture
from kubevirt.components.launcher.settings import Settings
from kubevirt.host.libvirt.daemon import DaemonSettings
from kubevirt.host.libvirt.domain import LiveDomain
from kubevirt.host.libvirt.errors import NoSuchDomainError
from kubevirt.host.libvirt.states import DomainState, State
from kubevirt.rpc import reports
from kubevirt.virt.domain.boot import Boot, MachineType
from kubevirt.virt.domain.domain import Domain
from kubevirt.virt.domain.memory import Size
from kubevirt.virt.domain.metadata import Kubevirt, Metadata

pytestmark = pytest.mark.virtual_time

UID = "6f0e1a1c-0000-4000-8000-000000000001"


class Played:
    """A domain as libvirt shows it: None is one that is not there any more."""

    name = "default_vm"

    def __init__(self) -> None:
        self.now: DomainState | None = DomainState(State.RUNNING, "Booted")
        self.meanwhile: Callable[[], object] | None = None
        """Happens once, while it is looked at."""

    async def read(self) -> Domain:
        self._check()
        if self.meanwhile is not None:
            happens = self.meanwhile
            self.meanwhile = None
            happens()
        return Domain(
            type="qemu",
            name=self.name,
            metadata=Metadata(kubevirt=Kubevirt(uid=UID)),
            memory=Size(unit="MiB", value=64),
            os=Boot(type=MachineType()),
        )

    async def state(self) -> DomainState:
        return self._check()

    def _check(self) -> DomainState:
        if self.now is None:
            raise NoSuchDomainError("it is not there")
        return self.now


class Hearer:
    """A handler that keeps what it is told."""

    def __init__(self) -> None:
        self.reports: list[tuple[str, reports.Domain]] = []

    async def domain_event(self, kind: str, domain: bytes, status: bytes = b"") -> None:
        self.reports.append((kind, reports.decoded(domain)))

    async def kubernetes_event(self, event: bytes) -> None:
        raise AssertionError("there is none")


@pytest.fixture
def settings() -> Iterator[Settings]:
    with tempfile.TemporaryDirectory(prefix="kvl-") as home:  # pytest's own have too long a path
        yield Settings(name="vm", uid=UID, libvirt=DaemonSettings(home=home))


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Notes]:
    with contextlib.closing(Notes(str(tmp_path / "launcher"))) as kept:
        yield kept


async def test_a_guest_whose_kernel_panicked_is_not_reported_before_it_is_known_why(
    settings: Settings, notes: Notes, clock: Clock
) -> None:
    notifier, played, heard = Notifier(clock), Played(), Hearer()
    guest = a_guest(played, settings, notes, notifier, clock)
    async with background(notifier.run(heard)):
        await guest.look()
        await notifier.told_everything()
        # libvirt shows it for a moment longer, and an event lets us look just then.
        played.now = DomainState(State.CRASHED, "Panicked")
        guest.stopped(reports.BY_PANIC)
        await guest.look()
        await notifier.told_everything()
        played.now = None
        await guest.look()
        await notifier.told_everything()
    told = [(kind, each.status.status, each.status.message) for kind, each in heard.reports]
    assert told == [
        (reports.ADDED, "Running", ""),
        (reports.DELETED, reports.CRASHED, "the guest's kernel panicked"),
    ]


async def test_a_look_that_began_before_a_reset_does_not_tell_of_it(
    settings: Settings, notes: Notes, clock: Clock
) -> None:
    """It may show an agent of the system before."""
    notifier, played, heard = Notifier(clock), Played(), Hearer()
    guest = a_guest(played, settings, notes, notifier, clock)
    async with background(notifier.run(heard)):
        played.meanwhile = guest.was_reset
        await guest.look()
        await notifier.told_everything()
        assert [each.status.resets for _, each in heard.reports] == [0]
        await guest.look()
        await notifier.told_everything()
    assert [each.status.resets for _, each in heard.reports] == [0, 1]


def a_guest(
    played: Played, settings: Settings, notes: Notes, notifier: Notifier, clock: Clock
) -> Guest:
    """One that runs."""
    nothing = cast("Any", None)
    guest = Guest(
        settings=settings,
        hypervisor=nothing,
        preparer=None,
        qemu=nothing,
        notes=notes,
        picture=Picture(settings, notifier),
        happenings=Happenings(settings, notifier, clock),
        clock=clock,
    )
    guest.domain = cast("LiveDomain", played)
    notes.guest_runs()
    return guest
