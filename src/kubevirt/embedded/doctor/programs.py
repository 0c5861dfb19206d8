"""Programs that the parts of a home run."""

import re
import shutil
from collections.abc import Iterator
from typing import Final

import msgspec

from kubevirt.base.commands import SEARCH_PATH, run
from kubevirt.base.errors import ConfigError, KubevirtError
from kubevirt.embedded.doctor.finding import Finding, missing, ok, warning
from kubevirt.embedded.process import settings


class Program(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    package: str
    """Of Debian."""
    purpose: str
    is_needed: bool = True
    """Whether the home does not come up without it."""


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
        name="qemu-system-x86_64", package="qemu-system-x86", purpose="runs guests", is_needed=False
    ),
    Program(
        name="kubectl", package="kubernetes-client", purpose="speaks to the API", is_needed=False
    ),
)
_VERSION: Final = re.compile(r"\d+(\.\d+)+")
_ASK_S: Final = 5.0


def found(program: Program, search_path: str = SEARCH_PATH) -> Finding:
    if place := shutil.which(program.name, path=search_path):
        return ok(program.name, place)
    cause = f"{program.name} is missing, which {program.purpose}"
    way_out = f"install it with: apt-get install {program.package}"
    return (missing if program.is_needed else warning)(program.name, cause, way_out)


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
    finding = found(program)
    version = await _version(program.name) if finding == ok(program.name, finding.cause) else ""
    return ok(program.name, f"{version} ({finding.cause})") if version else finding


async def _version(name: str) -> str:
    words = ("version", "--client") if name == "kubectl" else ("--version",)
    try:
        said = await run(name, *words, timeout_s=_ASK_S, check=False)
    except KubevirtError:
        return ""
    number = _VERSION.search(said.text)
    return number[0] if number else ""
