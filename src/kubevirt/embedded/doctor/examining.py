"""All checks of a home and its machine; and those without which a start is not even tried."""

import asyncio
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from kubevirt.base.errors import ConfigError
from kubevirt.embedded.doctor import health, machine, place, programs
from kubevirt.embedded.doctor.finding import Finding, Verdict
from kubevirt.embedded.home import Home
from kubevirt.embedded.network import doctor as network
from kubevirt.embedded.network.settings import NetworkSettings
from kubevirt.embedded.process import condition, settings


async def examine(home: Home) -> list[Finding]:
    """In the order of the reader's interest: what everything else rests on comes first."""
    asked = [_acceleration(home), *(programs.with_version(each) for each in programs.PROGRAMS)]
    seen, walls, answers = await asyncio.gather(
        condition.look(home), network.findings(_network(home)), asyncio.gather(*asked)
    )
    is_running = seen.state in (condition.State.UP, condition.State.SILENT)
    return [
        *_machine(),
        *answers,
        programs.keeper(),
        place.folder(home),
        place.space(home.path),
        *([] if is_running else [place.port(home)]),
        place.clock(home),
        *walls,
        *health.process(seen),
        *health.limits(),
    ]


def _machine() -> Iterator[Finding]:
    yield machine.user()
    yield machine.kernel()
    yield machine.namespaces()
    yield machine.overlay()
    yield from machine.devices()
    yield machine.control_groups()


def _network(home: Home) -> NetworkSettings:
    """Of a home that is not there yet, as the default one's would be."""
    if home.is_there and home.choices.pods:
        return settings.network(home, home.choices)
    return NetworkSettings(folder=home.network, api_port=settings.PORT)


async def _acceleration(home: Home) -> Finding:
    if home.is_there and os.access(home.path, os.W_OK):
        return await machine.acceleration(home.path)
    with tempfile.TemporaryDirectory(prefix="virtctl-doctor-") as cache:
        return await machine.acceleration(Path(cache))


def check(home: Home) -> None:
    """Before a start. Everything that is missing, in one sentence; nothing is run for it."""
    findings = [*_machine(), *programs.all_found(), programs.keeper(), place.space(home.path)]
    lacking = [each for each in findings if each.verdict is Verdict.MISSING]
    if lacking:
        raise ConfigError(_sentence(lacking), reason=_reason(lacking))


def _sentence(lacking: Sequence[Finding]) -> str:
    if len(lacking) == 1:
        return lacking[0].sentence
    return "this machine is not ready for it: " + "; ".join(
        f"{each.cause} ({each.way_out})" for each in lacking
    )


def _reason(lacking: Sequence[Finding]) -> str:
    return "NotRoot" if [each.name for each in lacking] == ["root"] else "NotAble"
