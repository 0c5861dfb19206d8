"""Programs that the parts of a home run."""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from kubevirt.base.commands import SEARCH_PATH, run
from kubevirt.base.errors import ConfigError, KubevirtError
from kubevirt.embedded.doctor import kubectl
from kubevirt.embedded.doctor.finding import Finding, missing, ok, warning
from kubevirt.embedded.process import settings


class Program(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    purpose: str
    package: str = ""
    """Of Debian."""
    source: str = ""
    """Where it is to be had if no package of Debian will do, as a clause."""
    others: Sequence[str] = ()
    """Programs that do as well."""
    is_needed: bool = True
    """Whether the home does not come up without it."""


_MACHINE: Final = os.uname().machine
_QEMU_PACKAGES: Final = {"x86_64": "qemu-system-x86", "aarch64": "qemu-system-arm"}

PROGRAMS: Final = (
    Program(name="bwrap", package="bubblewrap", purpose="makes the sandboxes of containers"),
    Program(name="nft", package="nftables", purpose="leads Services to their pods"),
    Program(name="dnsmasq", package="dnsmasq-base", purpose="answers for the names of Services"),
    Program(
        name="losetup",
        package="mount",
        purpose="makes volumes of mode Block",
        is_needed=False,
    ),
    Program(
        name="conntrack",
        package="conntrack",
        purpose="turns those who send datagrams away from pods that are gone",
        is_needed=False,
    ),
    Program(
        name="du",
        package="coreutils",
        purpose="measures emptyDir volumes that have a limit",
        is_needed=False,
    ),
    Program(name="cp", package="coreutils", purpose="copies volumes", is_needed=False),
    Program(
        name="zstd", package="zstd", purpose="unpacks images that are packed so", is_needed=False
    ),
    Program(
        name="libvirtd",
        others=("virtqemud",),
        package="libvirt-daemon libvirt-daemon-driver-qemu",
        purpose="starts guests",
        is_needed=False,
    ),
    Program(
        name=f"qemu-system-{_MACHINE}",
        package=_QEMU_PACKAGES.get(_MACHINE, "qemu-system"),
        purpose="runs guests",
        is_needed=False,
    ),
    Program(
        name="qemu-img",
        package="qemu-utils",
        purpose="reads and makes disks of guests",
        is_needed=False,
    ),
    Program(
        name=kubectl.NAME,
        source=kubectl.SOURCE,
        purpose="speaks to the API",
        is_needed=False,
    ),
)
_VERSION: Final = re.compile(r"\d+(\.\d+)+")
_ASK_S: Final = 5.0


def found(program: Program, search_path: str = SEARCH_PATH) -> Finding:
    if place := _place(program, search_path):
        return ok(program.name, place)
    cause = f"{program.name} is missing, which {program.purpose}"
    way_out = program.source or f"install it with: apt-get install {program.package}"
    return (missing if program.is_needed else warning)(program.name, cause, way_out)


def _place(program: Program, search_path: str = SEARCH_PATH) -> str | None:
    names = (program.name, *program.others)
    return next(filter(None, (shutil.which(each, path=search_path) for each in names)), None)


def all_found() -> Iterator[Finding]:
    return (found(each) for each in PROGRAMS)


def keeper() -> Finding:
    try:
        place = settings.keeper()
    except ConfigError as error:
        cause, _, way_out = str(error).partition("; ")
        return missing("keeper", cause, way_out)
    if settings.is_outdated(place):
        return warning(
            "keeper", f"{place} is older than its sources", "build it with: make bootstrap"
        )
    return ok("keeper", str(place))


async def with_version(program: Program) -> Finding:
    place = _place(program)
    if place is None:
        return found(program)
    is_kubectl = program.name == kubectl.NAME
    version = await _version(place, ("version", "--client") if is_kubectl else ("--version",))
    if is_kubectl:
        return kubectl.judged(version, place)
    return ok(program.name, f"{version} ({place})" if version else place)


async def _version(place: str, words: Sequence[str]) -> str:
    try:
        said = await run(place, *words, timeout_s=_ASK_S, check=False)
    except KubevirtError:
        return ""
    number = _VERSION.search(said.text)
    return number[0] if number else ""
