"""The programs of a provider: built once from Go modules, then found in a cache.

The cache lies outside the checkout and its key is made of what goes into a build: the version, the
module files, the sources beside them and the link-time variables. The Go version is no part of it:
a program does not behave differently for it, and so a filled cache needs no Go at all.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from clusterup import errors, progress

LEAST_GO = (1, 24)
NEEDED_SPACE_BYTES = 6 * 1024**3
"""Modules, Go's build cache and the stripped programs of one provider, with some air."""


@dataclass(frozen=True)
class Module:
    """One Go module of a provider and the programs that come out of it."""

    name: str
    folder: Path
    version: str
    programs: Mapping[str, str]
    """Program name to Go package."""
    variables: Mapping[str, str]

    def key(self) -> str:
        digest = hashlib.sha256()
        for path in sorted(self.folder.iterdir()):
            if path.suffix in {".mod", ".sum", ".go"}:
                digest.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
        digest.update(repr(sorted(self.variables.items())).encode())
        return f"{self.name}-{self.version}-{digest.hexdigest()[:12]}"

    def linker_flags(self) -> str:
        values = " ".join(f"-X {name}={value}" for name, value in self.variables.items())
        return f"-s -w {values}".strip()


class Binaries:
    """The programs of one provider in one cache."""

    def __init__(self, provider: Path, cache: Path) -> None:
        self._modules = list(read_modules(provider))
        self._cache = cache / provider.name

    def path(self, program: str) -> Path:
        """Where a program is, or will be once it has been built."""
        return self._cache / self._module_of(program).key() / program

    def missing(self, programs: Iterable[str]) -> list[str]:
        return [program for program in programs if not self.path(program).exists()]

    def all_programs(self) -> list[str]:
        return [program for module in self._modules for program in module.programs]

    async def ensure(self, programs: Iterable[str], say: progress.Progress) -> None:
        """Build what is not in the cache yet. Others who want the same wait for us and find it."""
        wanted = list(programs)
        if not self.missing(wanted):
            return
        async with self._only_one_builder(say):
            for module in self._modules:
                missing = self.missing(p for p in wanted if p in module.programs)
                if missing:
                    await self._build(module, missing, say)

    async def _build(self, module: Module, programs: list[str], say: progress.Progress) -> None:
        go = find_go()
        _check_space(self._cache)
        target = self._cache / module.key()
        target.mkdir(parents=True, exist_ok=True)
        async with say.step(f"fetching the Go modules of {module.name} {module.version}") as step:
            await _follow([go, "mod", "download", "-x"], module.folder, step, "requests")
        # Into a folder of its own first: a build that is cut short leaves no half-written program.
        with tempfile.TemporaryDirectory(dir=target, prefix=".build-") as folder:
            many = f"{len(programs)} program{'s' if len(programs) > 1 else ''}"
            text = f"building {many} of {module.name} {module.version}, once"
            async with say.step(text) as step:
                await _follow(
                    [
                        *(go, "build", "-v", "-mod=readonly", "-trimpath"),
                        *("-ldflags", module.linker_flags(), "-o", f"{folder}/"),
                        *(module.programs[program] for program in programs),
                    ],
                    module.folder,
                    step,
                    "packages compiled",
                )
            _put_in_place(module, programs, Path(folder), target)

    def _module_of(self, program: str) -> Module:
        for module in self._modules:
            if program in module.programs:
                return module
        raise KeyError(program)

    @contextlib.asynccontextmanager
    async def _only_one_builder(self, say: progress.Progress) -> AsyncIterator[None]:
        self._cache.mkdir(parents=True, exist_ok=True)
        with (self._cache / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                async with say.step("waiting for another build of the same programs"):
                    await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
            yield


def read_modules(provider: Path) -> Iterable[Module]:
    """What a provider's folder says is to be built."""
    for name, entry in tomllib.loads((provider / "provider.toml").read_text()).items():
        folder = provider / name
        version = _required_version(folder, entry["require"]) if "require" in entry else "v1.0.0"
        major, minor, *_ = version.removeprefix("v").split(".")
        yield Module(
            name=name,
            folder=folder,
            version=version,
            programs=entry["programs"],
            variables={
                variable: value.format(version=version, major=major, minor=minor)
                for variable, value in entry.get("variables", {}).items()
            },
        )


def find_go() -> str:
    """A Go that is new enough: the one on PATH, else the one of the virtual environment."""
    seen: list[str] = []
    for candidate in filter(None, [shutil.which("go"), shutil.which("go", path=_own_programs())]):
        said = subprocess.run(
            [candidate, "env", "GOVERSION"], capture_output=True, text=True, check=False
        ).stdout.strip()
        match = re.match(r"go(\d+)\.(\d+)", said)
        if match and (int(match[1]), int(match[2])) >= LEAST_GO:
            return candidate
        seen.append(f"{candidate} is {said or 'no Go at all'}")
    found = f"found only: {', '.join(seen)}" if seen else "none is on PATH or in .venv"
    least = ".".join(map(str, LEAST_GO))
    raise errors.Missing(
        f"Go {least} or newer is needed to build Kubernetes from its modules, {found}; "
        "run `make bootstrap`, which installs one into .venv, or put a newer Go on PATH"
    )


def _own_programs() -> str:
    return str(Path(sys.prefix) / "bin")


def _required_version(folder: Path, name: str) -> str:
    text = (folder / "go.mod").read_text()
    match = re.search(rf"^(?:require)?\s+{re.escape(name)} (v\S+)", text, re.MULTILINE)
    if not match:
        raise errors.ClusterError(
            f"{folder / 'go.mod'} does not require {name}; the file is damaged"
        )
    return match[1]


def _check_space(cache: Path) -> None:
    free = shutil.disk_usage(cache).free
    if free < NEEDED_SPACE_BYTES:
        raise errors.Missing(
            f"{cache} has {free / 1024**3:.1f} GiB free and building Kubernetes needs "
            f"{NEEDED_SPACE_BYTES / 1024**3:.0f}; free some space or name another place "
            "with KUBEVIRT_CACHE"
        )


def _put_in_place(module: Module, programs: list[str], built: Path, target: Path) -> None:
    for program in programs:
        # Go names the file after the package, which is not always the name we know it by.
        candidates = [built / program, *built.iterdir()]
        found = next(path for path in candidates if path.exists())
        found.rename(target / program)
    if left := [path.name for path in built.iterdir()]:
        raise errors.ClusterError(f"the build of {module.name} made files nobody asked for: {left}")


async def _follow(argv: list[str], folder: Path, step: progress.Step, unit: str) -> None:
    """Run a Go command and count the lines it prints as its progress."""
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false", "GOWORK": "off"}
    process = await asyncio.create_subprocess_exec(
        *argv, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    tail: list[str] = []
    try:
        assert process.stdout is not None  # noqa: S101  # asked for above; mypy cannot know
        count = 0
        async for line in process.stdout:
            count += 1
            step.detail = f"{count} {unit}"
            tail = [*tail[-11:], line.decode(errors="replace").rstrip()]
        code = await process.wait()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
    if code:
        command = " ".join(argv[:3])
        raise errors.ClusterError(
            f"`{command}` in {folder} ended with code {code}; Go modules are fetched by the "
            "settings of `go env GOPROXY`, so check the network if it could not fetch; its last "
            "words:\n  " + "\n  ".join(tail)
        )
