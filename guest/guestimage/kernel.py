"""The guest's kernel: Debian's source, `make tinyconfig`, and the options of `kernel/guest.config`.

Compiling takes minutes, so it is kept by the hash of what goes in, and a compilation that was cut
short goes on where it stopped.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from guestimage import cache, errors, packages, progress, settings, tools

ABOUT_HOW_MANY_FILES = 2070
"""Lines that make prints for one build; only for showing how far it is."""

_CONFIG = settings.SOURCES / "kernel" / "guest.config"
_COMPILERS = ("binutils", "gcc")
_FORCED = {"CONFIG_MICROCODE"}
"""Unwanted, but newer kernels leave no choice."""
_UNPACKED = "unpacked"
_IDENTITY = {
    "KBUILD_BUILD_TIMESTAMP": "2025-01-01",
    "KBUILD_BUILD_USER": "guest",
    "KBUILD_BUILD_HOST": "kubevirt",
    "KBUILD_BUILD_VERSION": "1",
}
"""What a kernel would otherwise take from the machine it was built on."""


@dataclass(frozen=True)
class Recipe:
    """Everything that decides what the kernel's bytes are."""

    source: packages.Package
    config: str
    compilers: str

    @property
    def key(self) -> str:
        identity = repr(sorted(_IDENTITY.items()))
        return cache.key_of([self.source.digest, self.config, self.compilers, identity])


def recipe() -> Recipe:
    name = packages.choose("linux-source-6.1", "linux-source-6.12")
    return Recipe(
        source=packages.resolve([name])[0],
        config=_CONFIG.read_text(),
        compilers=packages.installed_versions([*_COMPILERS, _compiler_package()]),
    )


def build(wanted: Recipe, chosen: settings.Settings, say: progress.Progress) -> Path:
    """The kernel of a recipe, from the cache if it is there."""
    store = cache.Cache(chosen.cache / "kernel")
    with store.only_one_builder(say):
        if not store.has(wanted.key):
            with store.making(wanted.key, resume=True) as folder:
                _build_in(folder, wanted, chosen, say)
    return store.entry(wanted.key) / "bzImage"


def _build_in(
    folder: Path, wanted: Recipe, chosen: settings.Settings, say: progress.Progress
) -> None:
    source = _unpacked_source(folder, wanted.source, chosen, say)
    # Inside the source, so that the compiler sees only relative paths: where this cache lies cannot
    # show in the kernel.
    out = source / "out"
    out.mkdir(exist_ok=True)
    make = ("make", "-C", str(source), f"O={out}", *(f"{k}={v}" for k, v in _IDENTITY.items()))
    if not _is_configured(out, wanted.config):
        configure(make, out, wanted.config)
    with say.step("compiling the kernel (minutes, once)") as step:
        count = 0

        def show(_line: str) -> None:
            nonlocal count
            count += 1
            step.detail(f"{count} of about {ABOUT_HOW_MANY_FILES} files")

        tools.follow(
            *(*make, f"-j{chosen.jobs}", "bzImage"),
            folder=folder,
            each_line=show,
            log=folder / "build.log",
        )
    shutil.copy(out / "arch/x86/boot/bzImage", folder / "bzImage")
    shutil.copy(out / ".config", folder / "config")
    shutil.rmtree(source)
    (folder / _UNPACKED).unlink()


def _unpacked_source(
    folder: Path, source: packages.Package, chosen: settings.Settings, say: progress.Progress
) -> Path:
    """The source tree. A finished unpacking is marked, so that half of one is never compiled."""
    tree, mark = folder / "source", folder / _UNPACKED
    if mark.exists():
        return tree
    (package,) = packages.fetch([source], chosen.cache / "packages", say)
    shutil.rmtree(tree, ignore_errors=True)
    with say.step(f"unpacking {source.name}"):
        packages.unpack(package, folder / "package")
        archive = next((folder / "package").glob("usr/src/linux-source-*.tar.xz"))
        tree.mkdir()
        tools.run("tar", "--extract", "--strip-components=1", "--file", archive, folder=tree)
        shutil.rmtree(folder / "package")
    mark.touch()
    return tree


def _is_configured(out: Path, fragment: str) -> bool:
    """Whether an earlier attempt got through `configure`; its first step alone writes a file too."""
    config = out / ".config"
    return config.exists() and not unmet(fragment, config.read_text())


def configure(make: tuple[str, ...], out: Path, fragment: str) -> None:
    """Write `.config`, and make sure that Kconfig took every option as it was asked for."""
    tools.run(*make, "tinyconfig")
    config = out / ".config"
    tiny = config.read_text()
    config.write_text(tiny + fragment)
    tools.run(*make, "olddefconfig")
    if refused := unmet(fragment, config.read_text()):
        config.unlink()
        raise errors.GuestError(
            "the kernel's configuration does not take these options, perhaps because this version "
            f"calls them otherwise or needs others with them: {', '.join(refused)}; "
            f"correct {_CONFIG.name}"
        )


def unmet(fragment: str, resolved: str) -> list[str]:
    """The options of a fragment that a resolved configuration does not fulfil."""
    lines = set(resolved.splitlines())
    missing = [
        line for line in fragment.splitlines() if line.startswith("CONFIG_") and line not in lines
    ]
    unwanted = re.findall(r"^# (CONFIG_\w+) is not set$", fragment, re.MULTILINE)
    forbidden = set(unwanted) - _FORCED
    present = [
        line for line in lines if line.partition("=")[0] in forbidden and not line.startswith("#")
    ]
    return [*missing, *sorted(present)]


def _compiler_package() -> str:
    """The package of the compiler itself; `gcc` only names it, and its version is not the whole."""
    version = tools.run("gcc", "-dumpversion").decode().strip()
    return f"gcc-{version}"
