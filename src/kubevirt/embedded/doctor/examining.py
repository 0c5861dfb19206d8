"""All checks of a home and its machine."""

import asyncio
import os
import tempfile
from pathlib import Path

from kubevirt.embedded.doctor import health, machine, needs, place, programs
from kubevirt.embedded.doctor.finding import Finding
from kubevirt.embedded.home import Home
from kubevirt.embedded.network import doctor as network
from kubevirt.embedded.network.settings import NetworkSettings
from kubevirt.embedded.process import condition, settings


async def examine(home: Home) -> list[Finding]:
    """In the order of the reader's interest: what everything else rests on comes first."""
    asked = [_acceleration(home), *(programs.with_version(each) for each in programs.PROGRAMS)]
    laid = _network(home)
    seen, walls, answers = await asyncio.gather(
        condition.look(home), network.findings(laid), asyncio.gather(*asked)
    )
    is_running = seen.state in (condition.State.UP, condition.State.SILENT)
    served = [await network.served(laid, home.log)] if is_running else []
    return [
        *needs.of_machine(),
        *answers,
        programs.keeper(),
        place.folder(home),
        place.space(home.path),
        *([] if is_running else [place.port(home)]),
        place.clock(home),
        *walls,
        *served,
        *health.process(seen),
        *health.limits(),
    ]


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
