"""A machine on which rules or names of Services cannot be had: a start ends for it, and a home that is up shows it."""

import asyncio
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.component.embedded.process import machine
from tests.component.embedded.process.conftest import Virtctl
from tests.component.embedded.process.leftovers import left_of, said
from tests.component.embedded.process.pods import LIMIT_S, api, comes_true
from tests.component.embedded.process.test_faults import names_servers

from kubevirt.api.core.node import Node, NodeCondition
from kubevirt.api.scheme import NODES
from kubevirt.base.commands import SEARCH_PATH
from kubevirt.kube.client import Client

pytestmark = pytest.mark.timeout(240)

WORDS = "Operation not supported"
REFUSALS = {
    # As with a kernel that lacks something: tables come and go, rules do not.
    "nft": f"""said=$(cat)
case "$said" in *'"rule"'*) echo "Error: {WORDS}" >&2; exit 1;; esac
printf %s "$said" | "$0.real" "$@"
""",
    "dnsmasq": f'echo "dnsmasq: {WORDS}" >&2; exit 2\n',
}
SENTENCES = {
    "nft": f"the rules of Services cannot be had: nft ended with exit code 1: Error: {WORDS}",
    "dnsmasq": f"dnsmasq did not start: dnsmasq: {WORDS}",
}


@contextmanager
def refusing(entry: tuple[str, ...], program: str, folder: Path) -> Iterator[None]:
    """A program does not do its work on that machine."""
    place = shutil.which(program, path=SEARCH_PATH)
    assert place
    real, false = folder / f"{program}.real", folder / program
    shutil.copy2(place, real)
    false.write_text(f"#!/bin/sh\n{REFUSALS[program].replace('$0.real', str(real))}")
    false.chmod(0o755)
    said(*entry, "mount", "--bind", str(false), place)
    try:
        yield
    finally:
        said(*entry, "umount", "--lazy", place)


@pytest.mark.parametrize("program", REFUSALS)
def test_a_network_that_cannot_be_had_ends_the_start_in_one_sentence(
    virtctl: Virtctl, program: str
) -> None:
    with machine.switched_on(virtctl.folder) as entry:
        there = replace(virtctl, entry=entry)
        with refusing(entry, program, virtctl.folder):
            done = there("up", "--port", "0")
        sentence = done.err.splitlines()[-1]
        assert done.code == 1, done.err
        assert SENTENCES[program] in sentence
        assert str(virtctl.home.log) in sentence
        assert left_of(virtctl.home.path, virtctl.home.id) == []
        there.up()
        assert there("down").code == 0


def flush_rules(virtctl: Virtctl) -> None:
    said("nft", "flush", "table", "inet", f"kubevirt-embedded-{virtctl.home.id}")


def kill_name_servers(virtctl: Virtctl) -> None:
    for pid in names_servers(virtctl):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("program", "hurt"), [("nft", flush_rules), ("dnsmasq", kill_name_servers)]
)
async def test_a_network_that_breaks_is_shown_by_the_node_and_the_doctor_until_it_is_mended(
    virtctl: Virtctl, program: str, hurt: Callable[[Virtctl], None]
) -> None:
    with machine.switched_on(virtctl.folder) as entry:
        there = replace(virtctl, entry=entry)
        await asyncio.to_thread(there.up)
        async with api(virtctl) as client:
            assert await asyncio.to_thread(verdicts, there) == ("ok", "ok")
            with refusing(entry, program, virtctl.folder):
                hurt(virtctl)
                shown = await until_network(client, "True")
                assert SENTENCES[program] in (shown.message or "")
                await comes_true(lambda: is_avoided(client))
                assert await asyncio.to_thread(verdicts, there) == ("warning", "warning")
                assert SENTENCES[program] in there("status").out
            await until_network(client, "False")
            assert await asyncio.to_thread(verdicts, there) == ("ok", "ok")
        assert (await asyncio.to_thread(there, "down")).code == 0


def verdicts(virtctl: Virtctl) -> tuple[str, str]:
    """The doctor's, of the node and of what Services stand on."""
    found = {each["name"]: each for each in json.loads(virtctl("doctor", "-o", "json").out)}
    return found["node01"]["verdict"], found["services"]["verdict"]


async def until_network(client: Client, status: str) -> NodeCondition:
    """Until the node says so of NetworkUnavailable."""
    async with asyncio.timeout(LIMIT_S):
        async for event in client.watch(NODES, resource_version=None):
            conditions = event.object.status.conditions if isinstance(event.object, Node) else ()
            for each in conditions:
                if (each.type, each.status) == ("NetworkUnavailable", status):
                    return each
    raise AssertionError("the watch ended")


async def is_avoided(client: Client) -> bool:
    """By the scheduler."""
    taints = (await client.get(NODES, "node01")).spec.taints
    return "node.kubernetes.io/network-unavailable" in {each.key for each in taints}
