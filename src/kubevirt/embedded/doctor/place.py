"""The folder of a home, its disk, the port of the API server, the clock."""

import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from kubevirt.base.errors import ConfigError
from kubevirt.embedded.doctor.finding import Finding, missing, note, ok, warning
from kubevirt.embedded.home import Home
from kubevirt.embedded.process.settings import LOOPBACK, PORT

LEAST_BYTES: Final = 256 << 20
GOOD_BYTES: Final = 2 << 30
_SKEW_S: Final = 300.0


def folder(home: Home) -> Finding:
    name = "home"
    if not home.path.exists():
        return note(name, f"{home.path} is not there yet; virtctl up makes it")
    if not home.is_there:
        if home.path.is_dir() and not any(home.path.iterdir()):
            return ok(name, f"{home.path} is empty")
        return missing(
            name, f"{home.path} is no embedded home", "choose another folder with --home"
        )
    try:
        home.check_version()
    except ConfigError as error:
        cause, _, way_out = str(error).partition("; ")
        return missing(name, cause, way_out)
    return ok(name, f"{home.path}, id {home.id}")


def space(path: Path) -> Finding:
    while not path.exists():
        path = path.parent
    free = shutil.disk_usage(path).free
    amount = f"{path} has {free / (1 << 30):.1f} GiB free"
    way_out = "free some, or choose a folder on another disk with --home"
    if free < LEAST_BYTES:
        return missing("disk", f"{amount}, too little for a store and its log", way_out)
    if free < GOOD_BYTES:
        return warning("disk", f"{amount}, which a few images or volumes fill", way_out)
    return ok("disk", amount)


def port(home: Home) -> Finding:
    """Only of a home that is not up: the port of one that is has its own process."""
    number = (home.choices.port if home.is_there else 0) or PORT
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, number))
        except OSError as error:
            cause = f"port {number} cannot be had: {os.strerror(error.errno or 0)}"
            return missing("port", cause, "choose another one with: virtctl up --port")
    return ok("port", f"{number} is free")


def clock(home: Home, now: datetime | None = None) -> Finding:
    """Files of the future: the clock has been set back since, and certificates are not good yet."""
    now = now or datetime.now(UTC)
    ahead = max((each - now.timestamp() for each in _times(home)), default=0.0)
    if ahead > _SKEW_S:
        return warning(
            "clock",
            f"files in {home.path} are {ahead / 60:.0f} minutes ahead of this machine's clock",
            "set the clock, best by NTP",
        )
    return ok("clock", f"{now:%Y-%m-%d %H:%M} UTC")


def _times(home: Home) -> Iterator[float]:
    for place in (home.store, home.log, home.kubeconfig, home.pki / "ca.crt"):
        with suppress(OSError):  # it is not there, or not for this user to see
            yield place.stat().st_mtime
