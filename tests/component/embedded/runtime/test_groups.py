"""Control groups of pods, on whatever this machine has: limited, counted, ended, removed."""

import asyncio
import json
import os
import signal
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.component.embedded.runtime.containers import (
    IS_ROOT,
    ONLY_ROOT,
    python,
    ran,
    said,
    shell,
    until,
)

from kubevirt.api.core.container import ResourceRequirements
from kubevirt.base.clock import SystemClock
from kubevirt.embedded.runtime import groups as runtime_groups
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.groups import Groups
from kubevirt.embedded.runtime.keeper import Keeper
from kubevirt.host.cgroups.detection import MOUNTS, detect
from kubevirt.host.cgroups.group import CgroupLimits
from kubevirt.host.cgroups.v1 import CgroupsV1
from kubevirt.host.cgroups.v2 import CgroupsV2

pytestmark = pytest.mark.skipif(not IS_ROOT, reason=ONLY_ROOT)

UID = "0b1f3c8e-0000-4000-8000-000000000001"
OTHER = "0b1f3c8e-0000-4000-8000-000000000002"
LITTLE = ResourceRequirements(limits={"cpu": "500m", "memory": "48Mi"})
BOMB = """
import os, time
while True:
    try:
        os.fork()
    except BlockingIOError:
        print("no more", flush=True)
        time.sleep(1000)
"""
"""Each of its processes starts others until there may be no more."""
HUNGRY = "head -c 200000000 /dev/zero | tail"


@pytest.fixture
async def groups() -> AsyncIterator[Groups]:
    groups = Groups(f"kubevirt-test-{os.getpid()}-{uuid.uuid4().hex[:6]}/home/node01")
    yield groups
    for uid in groups.left_over():
        await groups.kill(uid, SystemClock())
        groups.remove(uid)
    top = groups._folders()
    groups.close()
    assert not any(folder.exists() for folder in top)


def limited(groups: Groups, uid: str = UID, resources: ResourceRequirements = LITTLE) -> list[str]:
    return list(groups.for_container(uid, "main", resources))


async def test_a_container_begins_in_its_group_and_sees_its_limit(
    attempts: Path, keeper: Keeper, groups: Groups
) -> None:
    folders = limited(groups)
    attempt = Attempt(attempts / "0")

    await ran(attempt, shell("cat /proc/self/cgroup", cgroups=folders), keeper)

    # It has a view of its own, which begins at its group: it sees nothing of where it lies.
    assert UID not in said(attempt)
    limits = [Path(folder, "memory.limit_in_bytes") for folder in folders]
    limits += [Path(folder, "memory.max") for folder in folders]
    (found,) = [each.read_text().strip() for each in limits if each.exists()]
    assert int(found) == 48 << 20


async def test_a_container_that_runs_out_of_memory_is_known_until_its_next_try(
    attempts: Path, keeper: Keeper, groups: Groups
) -> None:
    ending = await ran(Attempt(attempts / "0"), shell(HUNGRY, cgroups=limited(groups)), keeper)

    assert ending.code != 0
    assert groups.is_out_of_memory(UID, "main")

    await ran(Attempt(attempts / "1"), shell("true", cgroups=limited(groups)), keeper)

    assert not groups.is_out_of_memory(UID, "main")


async def test_all_of_a_pod_is_ended_and_its_groups_go(
    attempts: Path, keeper: Keeper, groups: Groups
) -> None:
    script = "sleep 1000 & echo here; exec sleep 1000"
    mine, others = Attempt(attempts / "0"), Attempt(attempts / "1")
    await mine.start(shell(script, cgroups=limited(groups)), keeper)
    await others.start(shell(script, cgroups=limited(groups, OTHER)), keeper)
    await until(lambda: "here" in said(mine) and "here" in said(others))
    assert groups.left_over() == {UID, OTHER}

    await groups.kill(UID, SystemClock())

    async with asyncio.timeout(60):
        assert (await mine.ended()).code == 137
    groups.remove(UID)
    assert groups.left_over() == {OTHER}
    assert others.is_running


async def test_what_got_away_from_its_keeper_is_ended_with_its_group(
    attempts: Path, keeper: Keeper, groups: Groups
) -> None:
    """A program can say that it does not want to end with its parent."""
    attempt = Attempt(attempts / "0")
    script = (
        "import ctypes, time; ctypes.CDLL(None).prctl(1, 0); print('here', flush=True);"
        " time.sleep(1000)"
    )
    await attempt.start(python(script, cgroups=limited(groups)), keeper)
    await until(lambda: "here" in said(attempt))
    os.kill(json.loads((attempt.folder / "started.json").read_text())["keeper"], signal.SIGKILL)
    async with asyncio.timeout(60):
        assert (await attempt.ended()).is_lost

    limited(groups)  # for the next try

    await until(lambda: not is_populated(groups))


def is_populated(groups: Groups) -> bool:
    return any(file.read_text() for top in groups._folders() for file in top.rglob("cgroup.procs"))


def of_its_pod(folders: list[str], name: str) -> int:
    above = {Path(folder).parent / name for folder in folders}
    (found,) = [each.read_text() for each in above if each.exists()]
    return int(found)


def test_every_pod_has_a_limit_of_processes(groups: Groups) -> None:
    assert of_its_pod(limited(groups), "pids.max") == 16384


async def test_a_fork_bomb_ends_at_the_limit_of_its_pod(
    attempts: Path, keeper: Keeper, groups: Groups, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 50
    monkeypatch.setattr(runtime_groups, "POD_LIMITS", CgroupLimits(pids=most))
    folders = limited(groups)
    attempt = Attempt(attempts / "0")

    await attempt.start(python(BOMB, cgroups=folders), keeper)

    await until(lambda: "no more" in said(attempt))
    await until(lambda: of_its_pod(folders, "pids.current") == most)
    await groups.kill(UID, SystemClock())
    async with asyncio.timeout(60):
        assert (await attempt.ended()).code == 137
    await until(lambda: not is_populated(groups))


@pytest.mark.parametrize("uid", ["", "..", "a/b", "x\n"])
def test_a_name_cannot_lead_elsewhere(groups: Groups, uid: str) -> None:
    with pytest.raises(Exception, match="cannot name a cgroup"):
        groups.for_container(UID, uid, None)


async def test_groups_of_the_newer_kind_are_entered_and_ended_too(
    attempts: Path, keeper: Keeper
) -> None:
    mount = next(
        (
            Path(line.split()[1])
            for line in MOUNTS.read_text().splitlines()
            if line.split()[2] == "cgroup2"
        ),
        None,
    )
    if mount is None:
        pytest.skip("this machine has no control groups v2")
    groups = Groups(f"kubevirt-test-{uuid.uuid4().hex[:6]}", CgroupsV2(mount))
    attempt = Attempt(attempts / "0")
    try:
        await attempt.start(shell("echo here; exec sleep 1000", cgroups=limited(groups)), keeper)
        await until(lambda: "here" in said(attempt))
        assert groups.left_over() == {UID}
        assert is_populated(groups)

        await groups.kill(UID, SystemClock())

        async with asyncio.timeout(60):
            assert (await attempt.ended()).code == 137
    finally:
        groups.remove(UID)
        groups.close()


def limit_in(folder: str) -> int:
    return int(Path(folder, "memory.limit_in_bytes").read_text())


async def test_a_controller_that_is_missing_costs_its_limit_only_and_is_told_once(
    attempts: Path, keeper: Keeper, caplog: pytest.LogCaptureFixture
) -> None:
    if not isinstance(detect(), CgroupsV1):
        pytest.skip("only control groups v1 can be taken one by one")
    memory = next(
        Path(line.split()[1])
        for line in MOUNTS.read_text().splitlines()
        if line.split()[2] == "cgroup" and "memory" in line.split()[3].split(",")
    )
    groups = Groups(f"kubevirt-test-{uuid.uuid4().hex[:6]}", CgroupsV1({"memory": memory}))
    try:
        for number in range(2):
            folders = limited(groups)
            assert limit_in(folders[0]) == 48 << 20
            ending = await ran(
                Attempt(attempts / str(number)), shell("true", cgroups=folders), keeper
            )
            assert ending.code == 0
        told = [each for each in caplog.messages if "without a limit" in each]
        assert len(told) == 3  # processors, shares, processes
    finally:
        groups.remove(UID)
        groups.close()


async def test_where_control_groups_are_not_ours_containers_run_all_the_same(
    attempts: Path, keeper: Keeper, tmp_path: Path
) -> None:
    not_ours = CgroupsV1({"memory": Path("/sys/kernel")})  # nobody can make a folder there
    groups = Groups("kubevirt-test", not_ours)

    assert limited(groups) == []
    assert (await ran(Attempt(attempts / "0"), shell("exit 3"), keeper)).code == 3
    assert not groups.is_out_of_memory(UID, "main")
    assert groups.left_over() == frozenset()
    groups.remove(UID)
    groups.close()
