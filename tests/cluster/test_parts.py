"""The parts of cluster-up by themselves: cache, certificates, cgroups, images, progress."""

import asyncio
import io
import os
import re
import ssl
import subprocess
import tarfile
import uuid
from pathlib import Path

import pytest

from clusterup import (
    binaries,
    certificates,
    cgroups,
    errors,
    images,
    network,
    processes,
    progress,
    settings,
    waiting,
)

# Programs are built and others wait for theirs: on a busy machine it takes a while.
pytestmark = pytest.mark.timeout(400)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def quiet() -> progress.Progress:
    return progress.Progress("test", io.StringIO())


# The cache of programs.


@pytest.fixture
def small_provider(tmp_path: Path) -> Path:
    """A provider of one small Go program."""
    module = tmp_path / "small-1.0" / "hello"
    module.mkdir(parents=True)
    (module / "go.mod").write_text("module example.test/hello\n\ngo 1.24\n")
    (module / "main.go").write_text(
        "package main\n\nvar who string\n\nfunc main() { println(who) }\n"
    )
    (module.parent / "provider.toml").write_text(
        '[hello.programs]\nhello = "."\n[hello.variables]\n"main.who" = "{version}"\n'
    )
    return module.parent


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def needs_go() -> None:
    try:
        binaries.find_go()
    except errors.Missing as reason:
        pytest.skip(str(reason))


async def test_a_program_is_built_once_by_however_many_want_it(
    small_provider: Path, tmp_path: Path
) -> None:
    needs_go()
    out = io.StringIO()
    programs = binaries.Binaries(small_provider, tmp_path / "cache")
    other = binaries.Binaries(small_provider, tmp_path / "cache")
    say = progress.Progress("test", out)
    await asyncio.gather(programs.ensure(["hello"], say), other.ensure(["hello"], say))
    assert out.getvalue().count("building 1 program of hello v1.0.0") == 1
    said = await processes.run(programs.path("hello"))
    assert said.stderr == "v1.0.0\n"
    assert names_in(programs.path("hello").parent) == ["hello"]


async def test_a_build_that_fails_says_why_and_leaves_no_program(
    small_provider: Path, tmp_path: Path
) -> None:
    needs_go()
    (small_provider / "hello" / "main.go").write_text(
        "package main\n\nfunc main() { nonsense() }\n"
    )
    programs = binaries.Binaries(small_provider, tmp_path / "cache")
    with pytest.raises(errors.ClusterError, match=r"(?s)go build.*undefined: nonsense"):
        await programs.ensure(["hello"], quiet())
    assert programs.missing(["hello"]) == ["hello"]
    assert names_in(programs.path("hello").parent) == []


def test_the_key_of_a_program_changes_with_what_goes_into_it(
    small_provider: Path, tmp_path: Path
) -> None:
    before = binaries.Binaries(small_provider, tmp_path).path("hello")
    assert binaries.Binaries(small_provider, tmp_path).path("hello") == before
    (small_provider / "hello" / "go.sum").write_text("")
    assert binaries.Binaries(small_provider, tmp_path).path("hello") != before


def test_the_provider_has_one_version_of_kubernetes() -> None:
    folder = settings.PROVIDERS / settings.KUBERNETES
    (module,) = [one for one in binaries.read_modules(folder) if one.name == "kubernetes"]
    replaced = [
        line.split()[-1].strip()
        for line in (folder / "kubernetes" / "go.mod").read_text().splitlines()
        if "=>" in line
    ]
    assert len(replaced) > 25
    assert set(replaced) == {module.version.replace("v1.", "v0.", 1)}


# Certificates.


def test_certificates_pass_the_strict_checks_of_newer_pythons(tmp_path: Path) -> None:
    authority = certificates.Authority.create("test")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*authority.server("server", ["localhost"]).write(tmp_path, "server"))
    server.load_verify_locations(cadata=authority.pair.certificate.decode())
    server.verify_mode = ssl.CERT_REQUIRED
    server.verify_flags |= ssl.VERIFY_X509_STRICT
    client = ssl.create_default_context(cadata=authority.pair.certificate.decode())
    client.load_cert_chain(*authority.client("jane", ["ops"]).write(tmp_path, "client"))
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname="localhost"),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for end in ends * 3:
        try:
            end.do_handshake()
        except ssl.SSLWantReadError:
            continue
    seen = ends[1].getpeercert()
    assert seen is not None
    assert seen["subject"] == ((("organizationName", "ops"),), (("commonName", "jane"),))


def test_keys_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    _, key = certificates.Authority.create("test").client("jane").write(tmp_path, "jane")
    assert key.stat().st_mode & 0o777 == 0o600


# Cgroups.

UNIFIED = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
LEGACY = """\
31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
"""
HYBRID = LEGACY + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"


@pytest.mark.parametrize(
    ("mountinfo", "expected"),
    [
        (UNIFIED, ["/sys/fs/cgroup"]),
        (LEGACY, ["/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/memory"]),
        (
            HYBRID,
            ["/sys/fs/cgroup/unified", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/memory"],
        ),
    ],
    ids=["unified", "legacy", "hybrid"],
)
def test_every_layout_of_cgroups_is_understood(mountinfo: str, expected: list[str]) -> None:
    assert [str(one.mount) for one in cgroups.hierarchies(mountinfo)] == expected


def kinds_of_hierarchies() -> list[cgroups.Hierarchy]:
    found = cgroups.hierarchies()
    kinds = {one.is_unified: one for one in found if one.is_unified or "pids" in one.controllers}
    return list(kinds.values())


@pytest.mark.skipif(os.geteuid() != 0, reason="run as root, which may make cgroups")
@pytest.mark.parametrize("hierarchy", kinds_of_hierarchies(), ids=lambda one: one.mount.name)
async def test_all_processes_of_a_tree_are_ended_and_no_others(
    hierarchy: cgroups.Hierarchy,
) -> None:
    ours = cgroups.Tree(f"test-{uuid.uuid4().hex[:8]}", [hierarchy])
    other = cgroups.Tree(f"test-{uuid.uuid4().hex[:8]}", [hierarchy])
    try:
        started = [start_in(tree, "node01") for tree in (ours, ours, other)]

        async def are_inside() -> bool:
            return len(ours.processes("node01")) == 4 and len(other.processes()) == 2

        await waiting.until(are_inside, limit_s=60, what="all are inside")
        await ours.end()
        assert [one.wait() for one in started[:2]] == [-9, -9]
        assert not ours.exists()
        assert started[2].poll() is None
    finally:
        await ours.end()
        await other.end()
    assert started[2].wait() == -9


def start_in(tree: cgroups.Tree, machine: str) -> "subprocess.Popen[bytes]":
    """A process in a tree that has a child of its own."""
    tree.add(machine)
    (entrance,) = tree.entrance(machine)
    return subprocess.Popen(["/bin/sh", "-c", f"echo $$ >{entrance}; sleep 1000 & wait"])


# Networks.


async def test_those_who_start_at_once_choose_their_networks_in_turn() -> None:
    choosing: list[int] = []

    async def choose(who: int) -> None:
        async with network.claim():
            choosing.append(who)
            for _ in range(100):
                await asyncio.sleep(0)  # the others have every chance to come in
            assert choosing == [who]
            choosing.remove(who)

    async with asyncio.TaskGroup() as tasks:
        for who in range(3):
            tasks.create_task(choose(who))


# Images.


def test_the_same_files_make_the_same_image() -> None:
    files = {"bin/a": images.File(b"x"), "etc/b": images.File(link="/bin/a")}
    backwards = dict(reversed(files.items()))
    assert images.build(files, ["/bin/a"]) == images.build(backwards, ["/bin/a"])


def test_an_image_is_written_as_an_oci_layout(tmp_path: Path) -> None:
    image = images.build({"bin/a": images.File(b"x")}, ["/bin/a"])
    image.write_layout(tmp_path / "image.tar")
    with tarfile.open(tmp_path / "image.tar") as archive:
        names = set(archive.getnames())
    assert {"oci-layout", "index.json"} <= names
    assert {f"blobs/{blob.digest.replace(':', '/')}" for blob in image.blobs} <= names


def test_images_of_an_archive_are_known_by_their_names(tmp_path: Path) -> None:
    image = images.build({"bin/a": images.File(b"x")}, ["/bin/a"])
    image.write_layout(tmp_path / "image.tar", "example.com/a:1", "example.com/b:2")
    assert images.read_archive(tmp_path / "image.tar") == {
        "example.com/a:1": image,
        "example.com/b:2": image,
    }


def test_a_large_image_is_carried_as_it_is() -> None:
    files = {"tmp": images.File(mode=0o1777, is_folder=True), "tmp/a": images.File(b"x")}
    image = images.build(files, ["/bin/a"], is_compressed=False)
    with tarfile.open(fileobj=io.BytesIO(image.blobs[1].content), mode="r:") as layer:
        assert [(each.name, each.mode) for each in layer] == [("tmp", 0o1777), ("tmp/a", 0o755)]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("busybox", ("library/busybox", "latest")),
        ("docker.io/busybox:1", ("library/busybox", "1")),
        ("kubevirt/demo", ("kubevirt/demo", "latest")),
        ("quay.io/kubevirt/demo:v1", ("kubevirt/demo", "v1")),
        ("registry:5000/kubevirt/demo:devel", ("kubevirt/demo", "devel")),
        ("registry.k8s.io/pause:3.10", ("pause", "3.10")),
        ("localhost/demo", ("demo", "latest")),
    ],
)
def test_a_mirror_knows_an_image_by_its_path(reference: str, expected: tuple[str, str]) -> None:
    assert images.repository(reference) == expected


# Waiting, running, showing progress.


async def test_a_wait_ends_at_its_limit_and_says_what_for() -> None:
    async def never() -> bool:
        return False

    with pytest.raises(errors.Broken, match=r"pigs fly: not within 0\.05 s"):
        await waiting.until(never, limit_s=0.05, what="pigs fly")


async def test_a_command_that_hangs_is_ended() -> None:
    with pytest.raises(errors.Broken, match=r"sleep 1000.*0\.1 s"):
        await processes.run("sleep", "1000", limit_s=0.1)


async def test_elsewhere_than_on_a_terminal_a_step_is_a_plain_line() -> None:
    out = io.StringIO()
    async with progress.Progress("test", out).step("baking"):
        pass
    assert out.getvalue() == "test: baking\n"


async def test_on_a_terminal_a_step_shows_how_long_it_took() -> None:
    out = Terminal()
    async with progress.Progress("test", out).step("baking") as step:
        step.detail = "3 loaves"
        await asyncio.sleep(0)
    assert re.search(r"test: baking \(\d+\.\d s\)\n$", out.getvalue())
    assert "3 loaves" in out.getvalue()
