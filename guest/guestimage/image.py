"""From sources to images, and where to find them.

```
Debian's linux-source ── kernel.py ──────────────┐
Debian's packages ───── packages.py ─┐           │
guest/programs (C) ──── programs.py ─┼─ rootfs.py ── disk.py ── NAME.img, NAME.qcow2 ── oci.py ── NAME.tar
guest/root (scripts) ────────────────┘           │
                                                 └─ initramfs.py ── vmlinuz, initramfs ── kernel-boot.tar
```

The whole result is one entry of the cache, under the hash of everything above and of this package.
"""

import hashlib
import json
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from guestimage import (
    cache,
    disk,
    errors,
    guests,
    initramfs,
    kernel,
    names,
    oci,
    packages,
    programs,
    progress,
    rootfs,
    settings,
)
from guestimage.tree import Tree

KERNEL_BOOT = "kernel-boot"
_KEPT = 4
"""Results that stay in the cache, 0.1 GB each: for going back and forth between branches."""
_TOOLS = (
    *("e2fsprogs", "dosfstools", "mtools", "syslinux", "syslinux-common", "qemu-utils"),
    *("gcc", "libc6-dev", "libyaml-dev", "libzstd1"),
)
"""Packages whose version may show in the bytes."""


@dataclass(frozen=True)
class Images:
    """A finished result."""

    folder: Path

    def raw(self, guest: guests.Guest) -> Path:
        return self.folder / f"{guest.name}.img"

    def qcow2(self, guest: guests.Guest) -> Path:
        return self.folder / f"{guest.name}.qcow2"

    def archive(self, image: str) -> Path:
        return self.folder / f"{image}.tar"

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinuz"

    @property
    def initramfs(self) -> Path:
        return self.folder / "initramfs"


@dataclass(frozen=True)
class Recipe:
    """Everything that decides what the images' bytes are; the sources themselves as they are now."""

    kernel: kernel.Recipe
    packages: tuple[packages.Package, ...]
    tools: str

    @property
    def key(self) -> str:
        return cache.key_of(self._inputs())

    def _inputs(self) -> Iterator[str | bytes]:
        yield self.kernel.key
        yield from (package.digest for package in self.packages)
        yield from (self.tools, zlib.ZLIB_RUNTIME_VERSION)
        yield from programs.inputs()
        yield from cache.contents_of(rootfs.OVERLAY)
        yield from cache.contents_of(Path(__file__).parent)


def recipe() -> Recipe:
    return Recipe(
        kernel=kernel.recipe(),
        packages=tuple(packages.resolve(rootfs.needed_packages())),
        tools=packages.installed_versions(_TOOLS),
    )


def ready(environ: Mapping[str, str], say: progress.Progress) -> Images:
    """The images of this checkout, built now if they are not there yet: all that most callers need."""
    return build(recipe(), settings.from_environment(environ), say)


def build(wanted: Recipe, chosen: settings.Settings, say: progress.Progress) -> Images:
    """The images of a recipe, from the cache if they are there."""
    store = cache.Cache(chosen.cache / "image")
    if not store.has(key := wanted.key):
        built = kernel.build(wanted.kernel, chosen, say)
        with store.only_one_builder(say):
            # Anew: while a kernel compiles, people edit.
            if not store.has(key := wanted.key):
                with store.making(key) as folder:
                    _build_in(Images(folder), built, wanted, chosen, say)
                    if wanted.key != key:
                        raise errors.GuestError(
                            "the guest's sources changed while it was built; build it again"
                        )
                store.keep_newest(_KEPT)
    return Images(store.entry(key))


def _build_in(
    images: Images,
    built: Path,
    wanted: Recipe,
    chosen: settings.Settings,
    say: progress.Progress,
) -> None:
    images.kernel.write_bytes(built.read_bytes())
    files = packages.fetch(wanted.packages, chosen.cache / "packages", say)
    with tempfile.TemporaryDirectory(dir=images.folder, prefix=".parts-") as folder:
        with say.step("unpacking Debian's packages and compiling the guest's own programs"):
            parts = _gather(files, Path(folder))
        for guest in guests.ALL:
            with say.step(f"writing {guest.name}"):
                _write_guest(rootfs.assemble(parts, guest), guest, images)
        with say.step(f"writing {KERNEL_BOOT}"):
            _write_kernel_boot(rootfs.assemble(parts, guests.ALPINE), images)
    (images.folder / "sums.json").write_text(json.dumps(sums(images.folder), indent=2) + "\n")


def _gather(files: list[Path], folder: Path) -> rootfs.Parts:
    unpacked, compiled = folder / "unpacked", folder / "programs"
    compiled.mkdir()
    for file in files:
        packages.unpack(file, unpacked)
    return rootfs.Parts(unpacked=unpacked, programs=programs.compile_all(compiled))


def _write_guest(tree: Tree, guest: guests.Guest, images: Images) -> None:
    disk.write(tree, images.kernel, images.raw(guest))
    disk.to_qcow2(images.raw(guest), images.qcow2(guest))
    oci.write(
        {f"disk/{guest.name}.qcow2": images.qcow2(guest)},
        names.of(guest.name),
        images.archive(guest.name),
    )


def _write_kernel_boot(tree: Tree, images: Images) -> None:
    images.initramfs.write_bytes(initramfs.pack(tree))
    oci.write(
        {"boot/vmlinuz-virt": images.kernel, "boot/initramfs-virt": images.initramfs},
        names.of(KERNEL_BOOT),
        images.archive(KERNEL_BOOT),
    )


def sums(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of a result."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if path.is_file()
    }
