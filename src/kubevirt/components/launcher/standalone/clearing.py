"""What runs have left whose owners are dead: by a kill, or because they have just ended."""

from pathlib import Path

from kubevirt.base.clock import SystemClock
from kubevirt.components.launcher.standalone.folders import Place, remove_dead


async def clear(runtime: str, store: str) -> None:
    from kubevirt.host.net.home import clean_up  # noqa: PLC0415  # netlink: only where there is a network

    place = Place(runtime=Path(runtime), store=Path(store))
    await remove_dead(place, SystemClock())
    if place.homes.exists():
        await clean_up(place.homes)
