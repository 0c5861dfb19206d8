"""The provider `embedded`: this project's own Kubernetes for one machine, as `virtctl up` starts it.

It is a home like any other, in the folder where clusters of other providers are, too.
"""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from clusterup import binaries, errors, progress, settings
from kubevirt.cli import exit_codes
from kubevirt.embedded.home import Home

_LIMIT_S = 180
"""Longer than pods are given to end, and virtctl waits for that."""
_NODE_PLACE = "network/nodes"
"""Below the home, where the network namespaces of further nodes are."""


def up(chosen: settings.Settings) -> None:
    if chosen.home.exists() and _state(chosen)["state"] == "up":
        raise errors.AlreadyUp(
            f"the cluster {chosen.name} is up already; use it with cluster-up/kubectl.sh, or end it "
            "with `make cluster-down`"
        )
    words = ["--port", "0", "--nodes", str(chosen.nodes), "--no-merge-kubeconfig"]
    _virtctl(chosen, "up", *words)


def sync(chosen: settings.Settings, say: progress.Progress) -> None:
    """Replace its process by one of this checkout. It is killed, because one that is asked to end takes its
    pods along: those of one that died go on, and the next process finds them. So do guests.
    """
    old = info(chosen)["process"]["pid"]
    _kill(chosen.home)
    _virtctl(chosen, "up", "--no-merge-kubeconfig")
    new = info(chosen)["process"]["pid"]
    say.say(
        f"{chosen.name}: process {old} was replaced by {new}, which runs this checkout, and KubeVirt's programs "
        "with it; pods and guests went on, and launchers of new guests are of this checkout, too"
    )


def down(chosen: settings.Settings) -> None:
    _virtctl(chosen, "down", "--delete-data")


def info(chosen: settings.Settings) -> dict[str, Any]:
    """What `virtctl status` knows."""
    found = _state(chosen)
    if found["state"] != "up":
        raise errors.ClusterError(
            f"no cluster {chosen.name} is up that you may use; start it with `make cluster-up`, as root"
        )
    return found


def nodes(chosen: settings.Settings) -> Iterator[tuple[str, str]]:
    for node in info(chosen)["nodes"]:
        yield node["name"], "ready" if node["isReady"] else f"not ready: {node['message']}"


def inside(chosen: settings.Settings, node: str, words: Sequence[str]) -> list[str]:
    """A command on a node: the first one is this machine, others have its files and a network of
    their own.
    """
    known = list(info(chosen)["process"]["nodes"])
    if node not in known:
        raise errors.ClusterError(
            f"there is no machine {node} to enter: there are {', '.join(known)}"
        )
    if node == known[0]:
        return list(words)
    return ["nsenter", f"--net={chosen.home / _NODE_PLACE / node}", "--", *words]


def logs(chosen: settings.Settings) -> dict[tuple[str, str], Path]:
    found = info(chosen)
    return {(found["process"]["nodes"][0], "process"): Path(found["log"])}


async def kubectl(chosen: settings.Settings, say: progress.Progress) -> Path:
    """That of the real Kubernetes' provider, built if it has to be."""
    programs = binaries.Binaries(settings.PROVIDERS / settings.KUBERNETES, chosen.cache)
    await programs.ensure(["kubectl"], say)
    return programs.path("kubectl")


def _kill(home: Path) -> None:
    """By a descriptor: its number could be somebody else's by now."""
    holder = Home(home).holder
    if holder is None:
        return
    try:
        process = os.pidfd_open(holder)
    except ProcessLookupError:
        return
    try:
        if Home(home).holder == holder:
            signal.pidfd_send_signal(process, signal.SIGKILL)
            select.select([process], [], [], _LIMIT_S)
    finally:
        os.close(process)


def _state(chosen: settings.Settings) -> dict[str, Any]:
    done = subprocess.run(
        [*_words(chosen, "status"), "-o", "json"],
        capture_output=True,
        check=False,
        timeout=_LIMIT_S,
    )
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise errors.ClusterError(done.stderr.decode(errors="replace").strip()) from None
    return found


def _virtctl(chosen: settings.Settings, *words: str) -> None:
    """It says itself what it does and why it cannot."""
    done = subprocess.run(_words(chosen, *words), check=False, timeout=_LIMIT_S)
    if done.returncode != exit_codes.OK:
        raise errors.ClusterError(f"`virtctl {words[0]}` did not work")


def _words(chosen: settings.Settings, command: str, *words: str) -> list[str]:
    python = [sys.executable, "-m", "kubevirt.cli"]
    return [*python, command, "--home", os.fspath(chosen.home), *words]
