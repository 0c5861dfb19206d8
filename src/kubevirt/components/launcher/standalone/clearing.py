"""The end of a run: what it left goes, as the next start would take it away if we were killed."""

from pathlib import Path

from kubevirt.base.clock import SystemClock
from kubevirt.components.launcher.standalone.folders import Place, remove_if_dead


async def clear(runtime: str, store: str, uid: str) -> None:
    """Its locks are let go by now."""
    place = Place(runtime=Path(runtime), store=Path(store))
    await remove_if_dead(place.run(uid), SystemClock())
    if place.homes.exists():
        from kubevirt.host.net.home import clean_up  # noqa: PLC0415  # netlink

        await clean_up(place.homes)
