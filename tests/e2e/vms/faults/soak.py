"""`make soak`: whoever keeps a guest alive is killed at ten moments of its life, and a table tells how that went.

    python -m tests.e2e.vms.faults.soak
    python -m tests.e2e.vms.faults.soak --only virt-handler --only QEMU

Ends with 0 if no guest ever noticed, and those that were killed ran again.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

# Where the builders of the guest and of Kubernetes are.
sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "guest"))
sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "cluster-up"))

from tests.e2e.vms import shared_home
from tests.e2e.vms.companions import FATAL, HOME, PROGRAMS, SURVIVED
from tests.e2e.vms.faults import perishing
from tests.e2e.vms.faults.life import MOMENTS, Death, lived
from tests.e2e.vms.place import Place, a_place

from guestimage import image, progress

TOGETHER, SEPARATE = (HOME, *SURVIVED, *FATAL), PROGRAMS
LIMIT_S = 3600.0
"""For one victim, to end a hang."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    victims = (*TOGETHER, *SEPARATE)
    parser.add_argument("--only", action="append", choices=victims, help="one of them; default all")
    wanted = parser.parse_args().only or victims
    if reason := shared_home.why_not():
        sys.stderr.write(f"soak: {reason}\n")
        return 1
    image.ready(os.environ, progress.Progress())
    failures = 0
    for options, chosen in (((), TOGETHER), (("--separate",), SEPARATE)):
        for victim in chosen:
            if victim in wanted:
                failures += _tried(victim, options)
    _say(f"{failures} guests noticed" if failures else "no guest noticed anything it should not")
    return 1 if failures else 0


def _tried(victim: str, options: Sequence[str]) -> bool:
    """Whether it went wrong."""
    _say(f"killing {victim} at {len(_moments(victim))} moments")
    began = time.monotonic()
    try:
        deaths = asyncio.run(_killed(victim, options))
    except (AssertionError, TimeoutError, ExceptionGroup) as error:
        _say(f"{victim}: {error!r}")
        return True
    sys.stdout.write("".join(_rows(deaths)))
    sys.stdout.flush()
    _say(f"killed {victim} in {time.monotonic() - began:.0f} s")
    return False


async def _killed(victim: str, options: Sequence[str]) -> list[Death]:
    with shared_home.of_one_test(*options) as home:
        async with home.client() as client, asyncio.timeout(LIMIT_S):
            place = await a_place(client, home)
            deaths = await _deaths(place, victim)
            await place.leave()
            return deaths


async def _deaths(place: Place, victim: str) -> list[Death]:
    moments = _moments(victim)
    if victim in FATAL:
        return await perishing.perished(place, [(victim, moment) for moment in moments])
    return await lived(place, [victim], moments)


def _moments(victim: str) -> Sequence[str]:
    return perishing.MOMENTS if victim in FATAL else MOMENTS


def _rows(deaths: Sequence[Death]) -> Iterator[str]:
    for death in deaths:
        became = f"back after {death.away_s:6.2f} s" if death.was_there else "went with its guest"
        yield f"{death.victim:20}  {death.moment:13}  {became}\n"


def _say(text: str) -> None:
    sys.stderr.write(f"soak: {text}\n")


if __name__ == "__main__":
    sys.exit(main())
