"""What a home has on the machine, found by its id and its path: nothing may be left of one that is down."""

import subprocess
from collections.abc import Iterator
from pathlib import Path


def left_of(home: Path, home_id: str) -> list[str]:
    """Links, tables, mounts (namespaces are some), loop devices, control groups and processes."""
    return [
        *_links(home_id),
        *_tables(home_id),
        *_mounts(home),
        *_disks(home),
        *_groups(home_id),
        *_processes(home),
    ]


def _links(home_id: str) -> Iterator[str]:
    """Cables of pods have only half of the id in their names."""
    for line in said("ip", "-o", "link").splitlines():
        name = line.split(": ")[1].partition("@")[0]
        if name == f"kvpy-{home_id}" or name.startswith(f"kvp{home_id[:4]}"):
            yield f"link {line}"


def _tables(home_id: str) -> Iterator[str]:
    return (
        f"table {each}" for each in said("nft", "list", "tables").splitlines() if home_id in each
    )


def _mounts(home: Path) -> Iterator[str]:
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return (f"mount {each}" for each in lines if each.split()[4].startswith(f"{home}/"))


def _disks(home: Path) -> Iterator[str]:
    for place in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            file = place.read_text()
        except OSError:  # detached while we look
            continue
        if file.startswith(f"{home}/"):
            yield f"loop device {place.parts[-3]} {file}"


def _groups(home_id: str) -> Iterator[str]:
    above = (Path("/sys/fs/cgroup"), *Path("/sys/fs/cgroup").iterdir())
    folders = (each / "kubevirt-embedded" / home_id for each in above)
    return (f"control group {each}" for each in folders if each.exists())


def _processes(home: Path) -> Iterator[str]:
    """Keepers have the folder of their try as their own; all others are named by their commands."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words, folder = (process / "cmdline").read_bytes(), (process / "cwd").readlink()
        except OSError:
            continue
        if f"{home}/".encode() in words or folder.is_relative_to(home):
            yield f"process {process.name} {words!r}"


def said(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=30).stdout
