"""What is left on the machine of a guest that is gone, found by the UIDs of its pod and its instance: nothing may be.

Most of it has the UID in its name. A link has only a digest of it, rules and routes have the address that the pod had: those
are found by the home's leases, in which a pod that is gone must have none.
"""

import json
import re
import subprocess
import time
from collections.abc import Collection, Iterator, Sequence
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from kubevirt.embedded.home import Home
from kubevirt.embedded.network.settings import NetworkSettings
from kubevirt.embedded.process import settings

LIMIT_S = 60.0
"""Within which the last of it goes: whoever frees a folder does so a moment after the object is gone."""
_ADDRESS = re.compile(r"\b\d+\.\d+\.\d+\.\d+\b")


def assert_none(home: Path, uids: Collection[str]) -> None:
    deadline = time.monotonic() + LIMIT_S
    seen: set[str] | None = None
    while found := _left(home, uids, seen):
        assert time.monotonic() < deadline, f"left behind: {sorted(found)}"
        seen = found
        time.sleep(0.1)


def _left(home: Path, uids: Collection[str], before: set[str] | None) -> set[str]:
    """Of what is nobody's, only what was there before: others' pods come and go meanwhile."""
    nobodys = set(of_nobody(home))
    return {*of(home, uids), *(nobodys if before is None else nobodys & before)}


def of(home: Path, uids: Collection[str]) -> Iterator[str]:
    """Processes, mounts, control groups, links, routes and rules of the network, files."""
    if not uids:
        return
    yield from _processes(uids)
    for kind, lines in (
        ("mount", Path("/proc/self/mountinfo").read_text().splitlines()),
        ("control group", _said("find", "/sys/fs/cgroup", "-type", "d")),
        # Files by their names: logs and the store of the API server may well tell of it.
        ("file", _said("find", str(home), "-xdev", "-path", "*-*-*-*-*")),
    ):
        yield from (f"{kind} {line.strip()}" for line in lines if any(uid in line for uid in uids))
    network = _network(home)
    links = {network.link(uid) for uid in uids}
    yield from (f"link {each}" for each in _links() if each in links)
    leased = {address for address, uid in _leases(network) if uid in uids}
    yield from (each for address, each in _addresses(network) if address in leased)


def of_nobody(home: Path) -> Iterator[str]:
    """Links of no pod that has a lease, and routes and rules with addresses that nobody has."""
    network = _network(home)
    # Before the leases: a pod that comes has its lease first, one that goes has it last.
    links, addresses = _links(), list(_addresses(network))
    leases = list(_leases(network))
    owners = [*(uid for _, uid in leases), *(f"node/{each}" for each in network.nodes[1:])]
    theirs = {network.link(owner) for owner in owners}
    for link in links:
        if link.startswith(network.link_prefix) and link not in theirs:
            yield f"link {link}"
    taken = {address for address, _ in leases}
    yield from (each for address, each in addresses if address not in taken)


def _processes(uids: Collection[str]) -> Iterator[str]:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            groups = (process / "cgroup").read_text()
        except OSError:
            continue
        if any(uid in words or uid in groups for uid in uids):
            yield f"process {process.name} {words[:200]}"


def _network(home: Path) -> NetworkSettings:
    found = Home.open(home)
    return settings.network(found, found.choices)


def _links() -> Sequence[str]:
    return [str(each["ifname"]) for each in json.loads("\n".join(_said("ip", "-json", "link")))]


def _leases(network: NetworkSettings) -> Iterator[tuple[str, str]]:
    """Addresses, and the UIDs of the pods that have them."""
    for file in (network.folder / "leases").glob("*.json"):
        try:
            lease: dict[str, Any] = json.loads(file.read_bytes())
        except FileNotFoundError:
            continue
        yield lease["address"], lease["uid"]


def _addresses(network: NetworkSettings) -> Iterator[tuple[str, str]]:
    """Those of pods in routes and rules, with where they are."""
    for kind, words in (("route", ("ip", "route")), ("rule", ("nft", "list", "ruleset"))):
        for address in sorted(set(_ADDRESS.findall("\n".join(_said(*words))))):
            if network.first_pod <= IPv4Address(address) < network.pod_range.broadcast_address:
                yield address, f"{kind} with {address}"


def _said(*words: str) -> list[str]:
    """Also of a search during which something goes away."""
    return subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=60
    ).stdout.splitlines()
