"""A machine that lacks something: room, addresses, control groups, a program. It is told where a user looks,
and goes on when it is there again.
"""

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from tests.component.embedded.process import machine
from tests.component.embedded.process.conftest import Virtctl
from tests.component.embedded.process.leftovers import said
from tests.component.embedded.process.pods import (
    COUNTING,
    api,
    comes_true,
    log,
    pod,
    ready,
    said_in,
    status_of,
    told,
)

import kubevirt
from kubevirt.api.scheme import PODS
from kubevirt.base.commands import SEARCH_PATH
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

pytestmark = pytest.mark.timeout(240)

DISK_BYTES = 4 << 30
"""Nothing of it is ever written; with less than a gigabyte left a node is under pressure."""

MEMORY = "/sys/fs/cgroup/memory"


@contextmanager
def disk_of_its_own(virtctl: Virtctl) -> Iterator[Path]:
    """For the home; what is yielded is a file that may take all the room."""
    home, image = virtctl.home.path, virtctl.folder / "disk"
    home.mkdir()
    with image.open("wb") as file:
        file.truncate(DISK_BYTES)
    said("mkfs.ext4", "-q", "-m", "0", "-E", "lazy_itable_init=1,lazy_journal_init=1", str(image))
    said("mount", "-o", "loop", str(image), str(home))
    try:
        (home / "lost+found").rmdir()
        yield home / "too-much"
    finally:
        virtctl("down", "--delete-data")
        said("umount", "--lazy", str(home))


def fill(file: Path) -> None:
    """To the last block."""
    with file.open("wb") as taking:
        size = 1 << 30
        while size >= 1 << 10:
            try:
                os.posix_fallocate(taking.fileno(), os.fstat(taking.fileno()).st_size, size)
            except OSError:
                size //= 2


async def test_a_disk_that_is_full_is_told_of_and_costs_no_pod_its_life(virtctl: Virtctl) -> None:
    with disk_of_its_own(virtctl) as file:
        virtctl.up()
        async with api(virtctl) as client:
            await client.create(PODS.raw, pod("before", COUNTING), "default")
            await ready(client, "before")
            fill(file)
            complaint = await _complaint(client)
            assert "space" in complaint or "full" in complaint, complaint
            assert virtctl("status").code == 0
            assert "too little" in virtctl("doctor").out
            assert await said_in(client, "before", "hostname") == b"before\n"
            file.unlink()
            await comes_true(lambda: _is_made(client, "after"))
            await ready(client, "after")
            assert status_of(await ready(client, "before")).restart_count == 0


async def _complaint(client: Client) -> str:
    """About one of the pods that are made until it comes: of the server, or of the node."""
    for number in range(200):
        try:
            await client.create(PODS.raw, pod(f"p{number}", "exec sleep 1000"), "default")
        except ApiError as error:
            return str(error)
    raise AssertionError("there is still room")


async def _is_made(client: Client, name: str) -> bool:
    try:
        await client.create(PODS.raw, pod(name, COUNTING), "default")
    except ApiError:
        return False
    return True


async def test_a_pod_without_an_address_waits_for_one_and_says_so(virtctl: Virtctl) -> None:
    virtctl.up()
    virtctl("down")
    few = f"{virtctl.home.choices.pods.partition('/')[0]}/27"  # 15 of them are for pods
    virtctl.home.remember(msgspec.structs.replace(virtctl.home.choices, pods=few))
    assert virtctl("up").code == 0
    names = [f"p{number:02}" for number in range(16)]
    async with api(virtctl) as client:
        for name in names:
            await client.create(PODS.raw, pod(name, "exec sleep 1000"), "default")
        for name in names[:-1]:
            await ready(client, name)
        complaint = await told(client, names[-1], "FailedCreatePodSandBox")
        assert "all 15 addresses" in complaint
        await client.delete(PODS, names[0], "default", grace_period_s=0)
        await ready(client, names[-1])


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ("/sys/fs/cgroup", "containers run without control groups"),
        pytest.param(
            MEMORY,
            "containers run without a limit",
            marks=pytest.mark.skipif(
                not os.path.ismount(MEMORY),  # while tests are collected
                reason="control groups of the second version are all in one place",
            ),
        ),
    ],
)
async def test_a_machine_without_control_groups_runs_pods_and_says_so_once(
    virtctl: Virtctl, missing: str, told: str
) -> None:
    with machine.switched_on(virtctl.folder) as entry:
        said(*entry, "umount", "--recursive", missing)
        there = replace(virtctl, entry=entry)
        await asyncio.to_thread(there.up)
        async with api(virtctl) as client:
            limited = pod("limited", COUNTING)
            limited["spec"]["containers"][0]["resources"] = {"limits": {"memory": "64Mi"}}
            await client.create(PODS.raw, limited, "default")
            await client.create(PODS.raw, pod("other", COUNTING), "default")
            await ready(client, "limited")
            await ready(client, "other")
            assert (await log(client, "limited"))[0] == "0"
            await client.delete(PODS, "limited", "default", grace_period_s=0)
        assert virtctl.home.log.read_text().count(told) == 1
        assert (await asyncio.to_thread(there, "down")).code == 0


@pytest.mark.parametrize(
    "packages",
    [
        {"bwrap": "bubblewrap"},
        {"nft": "nftables"},
        {"dnsmasq": "dnsmasq-base"},
        {"bwrap": "bubblewrap", "nft": "nftables", "dnsmasq": "dnsmasq-base"},
    ],
    ids="-".join,
)
def test_a_program_that_is_missing_is_told_with_its_package(
    virtctl: Virtctl, packages: dict[str, str]
) -> None:
    there = replace(virtctl, entry=without(packages))
    done = there("up", "--port", "0")
    (sentence,) = done.err.splitlines()
    for program, package in packages.items():
        assert f"{program} is missing, which " in sentence
        assert f"install it with: apt-get install {package}" in sentence
    assert (done.code, virtctl.home.path.exists()) == (7, False)
    doctor = there("doctor")
    assert doctor.code == 7
    for program in packages:
        assert f"✗ {program} " in doctor.out


def without(programs: Iterable[str]) -> tuple[str, ...]:
    """What leads to a machine like this one, on which there is something else in the place of some programs: nothing
    that could be run.
    """
    found = (shutil.which(each, path=SEARCH_PATH) for each in programs)
    covers = " && ".join(f"mount --bind /dev/null {shlex.quote(each)}" for each in found if each)
    return ("unshare", "--mount", "sh", "-c", f'{covers} && exec "$@"', "sh")


def test_a_keeper_that_is_not_built_is_told_with_the_way_out(virtctl: Virtctl) -> None:
    """The same package at another place, where nobody built anything."""
    elsewhere = virtctl.folder / "checkout" / "src"
    elsewhere.mkdir(parents=True)
    (elsewhere / "kubevirt").symlink_to(Path(kubevirt.__file__).parent)
    done = subprocess.run(
        [sys.executable, "-m", "kubevirt.cli", "up", "--foreground", "--port=0"],
        env={**virtctl.env, "PYTHONPATH": str(elsewhere)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd="/",
    )
    sentence = done.stderr.splitlines()[-1]
    assert "is not built" in sentence
    assert "make bootstrap" in sentence
    assert done.returncode == 7, done


def test_a_network_that_came_later_and_has_our_addresses_is_told_of(virtctl: Virtctl) -> None:
    virtctl.up()
    virtctl("down")
    link = f"tkv{os.getpid()}"
    said("ip", "link", "add", link, "type", "bridge")
    try:
        said("ip", "link", "set", link, "up")
        said("ip", "route", "add", virtctl.home.choices.pods, "dev", link)
        assert virtctl("up").code == 0
        told = virtctl("doctor").out
        assert f"by {link}, and the home has {virtctl.home.choices.pods}" in told, told
    finally:
        said("ip", "link", "delete", link)
