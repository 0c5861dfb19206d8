"""Debian's packages: which version apt would take, fetched and unpacked, never installed.

apt knows where a package is and what its bytes hash to; that hash is what the image's key is made of,
so an update in Debian is an update of the guest. Nothing here needs root or changes the machine.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from guestimage import apt, errors, progress, tools

_DEPENDENCY = re.compile(r"^[ |]*(?:Pre)?Depends: (?P<name>[^<:]+)")
_LINE = re.compile(r"'(?P<uri>[^']+)' (?P<file>\S+) (?P<size>\d+) (?P<hash>\S+)")


@dataclass(frozen=True)
class Package:
    """One package in the one version that apt would install."""

    name: str
    file: str
    size: int
    digest: str
    """As apt says it: SHA256:…"""


def choose(*alternatives: str) -> str:
    """The first of these names that this Debian has: some packages changed theirs."""
    for name in alternatives:
        if _candidate(name):
            return name
    raise errors.GuestError(
        f"apt knows no package {' or '.join(alternatives)}, which the guest is made of; "
        "run `apt-get update` as root, and check that this is Debian 12 or 13"
    )


def libraries_of(names: Sequence[str]) -> list[str]:
    """The packages of libraries that these packages depend on, and those that they need in turn.

    Only through libraries: what a program's package needs for being installed (users, questions,
    services) is no part of a guest that installs nothing.
    """
    said = apt.ask("apt-cache", "depends", "--recurse", "--important", *names)
    return closure_of_libraries(names, parse_dependencies(said))


def closure_of_libraries(names: Sequence[str], needs: Mapping[str, Sequence[str]]) -> list[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        for name in needs.get(waiting.pop(), ()):
            if name.startswith(("lib", "zlib")) and name not in found:
                found.add(name)
                waiting.append(name)
    return sorted(found)


def parse_dependencies(said: str) -> dict[str, list[str]]:
    """apt-cache prints a package at the margin and under it, indented, what it depends on."""
    needs: dict[str, list[str]] = {}
    current: list[str] = []
    for line in said.splitlines():
        if not line.startswith((" ", "<")):
            current = needs.setdefault(line.strip(), [])
        elif (match := _DEPENDENCY.match(line)) is not None:
            current.append(match["name"])
    return needs


def resolve(names: Sequence[str]) -> list[Package]:
    try:
        said = apt.ask("apt-get", "--quiet", "--print-uris", "download", *names)
    except errors.ToolFailed as error:
        raise errors.GuestError(
            f"apt cannot say where the guest's packages are; run `apt-get update` as root: {error}"
        ) from error
    found = [_package(line) for line in said.splitlines() if line.startswith("'")]
    if missing := set(names) - {package.name for package in found}:
        raise errors.GuestError(
            f"apt has no download for {', '.join(sorted(missing))}; run `apt-get update` as root"
        )
    return found


def fetch(wanted: Sequence[Package], cache: Path, say: progress.Progress) -> list[Path]:
    """The packages' files, from the cache where they are there and whole."""
    missing = [package for package in wanted if not _is_whole(package, cache)]
    if missing:
        cache.mkdir(parents=True, exist_ok=True)
        for package in missing:
            (cache / package.file).unlink(missing_ok=True)
        _download(missing, cache, say)
    return [cache / package.file for package in wanted]


def _download(missing: Sequence[Package], cache: Path, say: progress.Progress) -> None:
    names = [package.name for package in missing]
    size = sum(package.size for package in missing) / 1e6
    with say.step(f"fetching {', '.join(names)} ({size:.1f} MB)"):
        # apt drops root for its downloads, and complains when the folder is root's alone.
        try:
            tools.run(
                *("apt-get", "--quiet", "-o", "APT::Sandbox::User=root", "download", *names),
                folder=cache,
            )
        except errors.ToolFailed as error:
            raise errors.GuestError(
                "apt cannot fetch the guest's packages, perhaps because its index is old; run "
                f"`apt-get update` as root and try again: {error}"
            ) from error
    if damaged := [package.name for package in missing if not _is_whole(package, cache)]:
        raise errors.GuestError(
            f"the download of {', '.join(damaged)} is not what apt's index names, perhaps because "
            "the index is old; run `apt-get update` as root and try again"
        )


def unpack(path: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tools.run("dpkg-deb", "--extract", path, folder)


def installed_versions(names: Sequence[str]) -> str:
    """The versions of packages that the build runs, as an input of a key: tools write the bytes."""
    form = "--showformat=${Package} ${Version}\\n"
    try:
        return tools.run("dpkg-query", "--show", form, *names).decode()
    except errors.ToolFailed as error:
        raise errors.MachineLacks(
            f"a package that builds the guest is not installed; run `make bootstrap`: {error}"
        ) from error


def _candidate(name: str) -> bool:
    said = apt.ask("apt-cache", "policy", name)
    return bool(re.search(r"Candidate: (?!\(none\))", said))


def _package(line: str) -> Package:
    match = _LINE.match(line)
    if match is None or not match["hash"].startswith("SHA256:"):
        raise errors.GuestError(f"apt said something this build does not understand: {line}")
    return Package(
        name=match["file"].split("_")[0],
        file=match["file"],
        size=int(match["size"]),
        digest=match["hash"],
    )


def _is_whole(package: Package, cache: Path) -> bool:
    try:
        with (cache / package.file).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return False
    return package.digest == f"SHA256:{digest}"
