"""The build's own parts, each alone: what needs no kernel and no QEMU."""

import contextlib
import io
import os
from pathlib import Path

import pytest

from guestimage import (
    apt,
    cache,
    elf,
    errors,
    image,
    kernel,
    packages,
    progress,
    settings,
    tools,
    tree,
)

FRAGMENT = "# Disks\nCONFIG_EXT4_FS=y\nCONFIG_NR_CPUS=64\n# CONFIG_SWAP is not set\n"


def test_a_configuration_that_fulfils_the_fragment_is_taken() -> None:
    resolved = "CONFIG_EXT4_FS=y\nCONFIG_NR_CPUS=64\n# CONFIG_SWAP is not set\nCONFIG_MORE=y\n"
    assert kernel.unmet(FRAGMENT, resolved) == []


def test_an_option_that_kconfig_dropped_changed_or_forced_is_named() -> None:
    resolved = "CONFIG_NR_CPUS=8\nCONFIG_SWAP=y\n"
    assert kernel.unmet(FRAGMENT, resolved) == [
        "CONFIG_EXT4_FS=y",
        "CONFIG_NR_CPUS=64",
        "CONFIG_SWAP=y",
    ]


def test_a_program_tells_its_libraries_and_its_loader() -> None:
    program = Path("/usr/bin/env").read_bytes()
    assert "libc.so.6" in elf.needs(program)
    assert elf.loader(program) == "/lib64/ld-linux-x86-64.so.2"


def test_a_script_needs_no_libraries() -> None:
    assert elf.needs(b"#!/bin/sh\n") == []
    assert elf.loader(b"#!/bin/sh\n") is None


def test_only_libraries_are_followed_to_what_they_need() -> None:
    said = (
        "agent\n  PreDepends: init-helpers\n  Depends: libone\n |Depends: liball\n"
        "    libreplacement\n  Depends: <libvirtual>\ninit-helpers\n  Depends: libperl\n"
        "libone\n  Depends: zlib1g\n<libvirtual>\nzlib1g\n"
    )
    needs = packages.parse_dependencies(said)
    assert needs["agent"] == ["init-helpers", "libone", "liball"]
    assert packages.closure_of_libraries(["agent"], needs) == ["liball", "libone", "zlib1g"]


def test_a_missing_tool_says_what_to_do() -> None:
    with pytest.raises(errors.ToolMissing, match="make bootstrap"):
        tools.run("no-such-program")


def test_a_failing_tool_is_quoted() -> None:
    with pytest.raises(errors.ToolFailed, match=r"(?s)code 3.*the last words"):
        tools.run("sh", "-c", "echo the last words >&2; exit 3")


def test_a_failed_compilation_shows_its_cause_and_where_the_rest_is(tmp_path: Path) -> None:
    script = "echo 'a.c:1: error: no such thing'; seq 100; exit 2"
    with pytest.raises(errors.ToolFailed, match=r"(?s)build\.log.*no such thing") as raised:
        tools.follow(
            *("sh", "-c", script),
            folder=tmp_path,
            each_line=lambda _line: None,
            log=tmp_path / "build.log",
        )
    assert "\n  99" not in str(raised.value)


def test_a_key_changes_with_every_input_and_with_their_borders() -> None:
    keys = {
        cache.key_of(parts)
        for parts in (["a", "b"], ["ab"], ["a", "b", ""], ["b", "a"], [b"a", b"c"])
    }
    assert len(keys) == 5


def make_half(store: cache.Cache, *, resume: bool) -> None:
    with contextlib.suppress(errors.GuestError), store.making("key", resume=resume) as folder:
        (folder / "half").touch()
        raise errors.GuestError("cut short")


def test_a_folder_made_half_is_never_found_whole(tmp_path: Path) -> None:
    store = cache.Cache(tmp_path)
    make_half(store, resume=False)
    assert not store.has("key")


def test_what_was_cut_short_goes_on_where_it_stopped(tmp_path: Path) -> None:
    store = cache.Cache(tmp_path)
    make_half(store, resume=True)
    with store.making("key", resume=True) as folder:
        assert (folder / "half").exists()
    assert store.has("key")


def test_sources_edited_during_a_build_do_not_become_its_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Edited(image.Recipe):
        keys = iter(["before", "before", "after"])

        @property
        def key(self) -> str:
            return next(self.keys)

    source = packages.Package(name="", file="", size=0, digest="")
    wanted = Edited(kernel=kernel.Recipe(source, "", ""), packages=(), tools="")
    monkeypatch.setattr(kernel, "build", lambda *_: tmp_path)
    monkeypatch.setattr(image, "_build_in", lambda *_: None)
    chosen = settings.Settings(cache=tmp_path, jobs=1)
    with pytest.raises(errors.GuestError, match="changed while it was built"):
        image.build(wanted, chosen, progress.Progress())
    assert not any(cache.Cache(tmp_path / "image").has(key) for key in ("before", "after"))


def test_only_the_newest_entries_stay(tmp_path: Path) -> None:
    store = cache.Cache(tmp_path)
    for age, key in enumerate(("oldest", "older", "newest")):
        with store.making(key):
            pass
        os.utime(store.entry(key), (age, age))
    store.keep_newest(2)
    assert [store.has(key) for key in ("oldest", "older", "newest")] == [False, True, True]


def test_progress_is_shown_as_plain_lines_where_there_is_no_terminal() -> None:
    out = io.StringIO()
    with progress.Progress(out).step("compiling") as step:
        step.detail("1 file")
    assert out.getvalue() == "guest-image: compiling\n"


def test_a_tree_brings_the_folders_of_its_files() -> None:
    files = tree.Tree()
    files.add_file("a/b/c", b"x", mode=0o600)
    assert [(path, oct(entry.mode)) for path, entry in files] == [
        ("a", "0o40755"),
        ("a/b", "0o40755"),
        ("a/b/c", "0o100600"),
    ]


def test_apt_is_asked_again_only_when_what_it_knows_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[tuple[str, ...]]()
    index = tmp_path / "index"
    index.write_text("old")
    monkeypatch.setenv("KUBEVIRT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(apt, "KNOWLEDGE", (index,))

    def run(*words: str) -> bytes:
        asked.append(words)
        return b"an answer"

    monkeypatch.setattr(tools, "run", run)
    for _ in range(2):
        assert apt.ask("apt-cache", "policy", "busybox") == "an answer"
    assert len(asked) == 1
    index.write_text("newer")
    assert apt.ask("apt-cache", "policy", "busybox") == "an answer"
    assert apt.ask("apt-cache", "policy", "dropbear") == "an answer"
    assert len(asked) == 3
