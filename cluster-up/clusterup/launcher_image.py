"""The image of virt-launcher for a real Kubernetes, made of this machine's own software.

The embedded home shows a launcher the whole /usr of the machine. An image has to be carried, so this one
has what a launcher runs and nothing else: a handful of programs with the libraries that they load, QEMU's
firmware, Python, the packages that the project needs, and the project itself. The same machine and the
same checkout give the same bytes.
"""

import importlib.util
import marshal
import os
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from clusterup import errors, images
from kubevirt.base.commands import SEARCH_PATH
from kubevirt.base.errors import KubevirtError
from kubevirt.embedded.runtime import sandbox
from kubevirt.embedded.runtime.images import launcher

NAME = "quay.io/kubevirt/virt-launcher"
HELPER = "usr/bin/container-disk"

_DISTRIBUTION = "kubevirt-py"
_HYPERVISOR = f"qemu-system-{os.uname().machine}"
_PROGRAMS = ("libvirtd", _HYPERVISOR, "qemu-img", "prlimit", "cp", "tail", "sh")
_LIBRARIES = Path("/usr/lib") / sysconfig.get_config_var("MULTIARCH")
_FOLDERS = (
    Path(sysconfig.get_path("stdlib")),
    _LIBRARIES / "libvirt",
    _LIBRARIES / "qemu",
    Path("/usr/lib/ipxe"),
    Path("/usr/lib/locale/C.utf8"),
    *(Path("/usr/share") / name for name in ("libvirt", "qemu", "seabios", "OVMF", "AAVMF")),
)
"""What programs open by name. Those that are not on this machine are not in the image."""
_NOT_WANTED = {
    *("__pycache__", "test", "idlelib", "lib2to3", "ensurepip", "turtledemo", "dist-packages"),
    Path(sysconfig.get_config_var("LIBPL")).name,
}
"""Of Python: its tests, its editor, what one embeds it with; and bytecode, see `_bytecode`."""
_NOT_LOADED = {"cel-expr-python", "click", "jsonschema-rs"}
"""Packages that only other programs of the project load."""
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "nsswitch.conf", "localtime")
_EMPTY = {"tmp": 0o1777, "var/tmp": 0o1777, "run": 0o755, "var/lib": 0o755, "proc": 0o555}
_LINKS = ("bin", "sbin", "lib", "lib64")
_UNCHECKED = 0b01
"""Bytecode that is not held against its source."""
_LIBRARY = re.compile(r"^\t(?:\S+ => )?(/\S+) \(0x", re.MULTILINE)


def build(helper: Path, scratch: Path) -> images.Image:
    """`helper` is the static program of container disks; `scratch` an empty folder. Blocks for seconds."""
    tree = _Tree()
    for program in _PROGRAMS:
        tree.add(_found(program))
    for folder in _FOLDERS:
        tree.add(folder)
    _add_own(tree, scratch)
    for library in _libraries(tree.binaries):
        tree.add(library)
    for name in _ETC:
        tree.add(Path("/etc") / name)
    files = {**tree.files, **_furniture(), HELPER: images.File(helper.read_bytes())}
    return images.build(files, ["/usr/bin/virt-launcher"], user="107", is_compressed=False)


def reference(image: images.Image) -> str:
    """Its name, which tells what is in it: nodes keep what they have by that name."""
    return f"{NAME}:{image.manifest.digest.removeprefix('sha256:')[:16]}"


class _Tree:
    """Files of the image, gathered."""

    def __init__(self) -> None:
        self.files: dict[str, images.File] = {}
        self.binaries: list[Path] = []
        """Those that load libraries."""

    def add(self, source: Path, target: str = "") -> None:
        """A file, or a folder with all that is in it, and what its links lead to."""
        name = _place(target or str(source))
        if name in self.files or not os.path.lexists(source):
            return
        if source.is_symlink():
            self._add_link(source, name, is_elsewhere=bool(target))
        elif source.is_dir():
            for each in sorted(source.iterdir()):
                if each.name not in _NOT_WANTED:
                    self.add(each, f"{target}/{each.name}" if target else "")
        elif source.is_file():
            self._add_file(source, name)

    def _add_link(self, source: Path, name: str, *, is_elsewhere: bool) -> None:
        link = source.readlink()
        self.files[name] = images.File(link=str(link))
        # What is shown elsewhere brings along what its short links lead to.
        if link.is_absolute() or not is_elsewhere:
            self.add(source.parent / link)

    def _add_file(self, source: Path, name: str) -> None:
        content = source.read_bytes()
        is_program = source.stat().st_mode & 0o111
        self.files[name] = images.File(content, 0o755 if is_program else 0o644)
        if content.startswith(b"\x7fELF"):
            self.binaries.append(source)
        elif source.suffix == ".py" and (code := _bytecode(source, content)):
            self.files[importlib.util.cache_from_source(name)] = images.File(code, 0o644)


def _bytecode(source: Path, content: bytes) -> bytes | None:
    """For Python to take as it is: nobody can write it down in an image, and without it a launcher spends
    seconds on compiling. Its head names no time of day, which differs from machine to machine.
    """
    try:
        code = _compiled(source) or marshal.dumps(
            compile(content, source, "exec", dont_inherit=True)
        )
    except (SyntaxError, ValueError):
        return None  # a template, say
    head = importlib.util.MAGIC_NUMBER + _UNCHECKED.to_bytes(4, "little")
    return head + importlib.util.source_hash(content) + code


def _compiled(source: Path) -> bytes | None:
    """What this machine has compiled before, if that is of this very file."""
    found = source.stat()
    fields = (0, int(found.st_mtime) & 0xFFFFFFFF, found.st_size & 0xFFFFFFFF)
    head = importlib.util.MAGIC_NUMBER + struct.pack("<3I", *fields)
    try:
        cached = Path(importlib.util.cache_from_source(str(source))).read_bytes()
    except OSError:
        return None
    return cached[len(head) :] if cached.startswith(head) else None


def _found(program: str) -> Path:
    if path := shutil.which(program, path=SEARCH_PATH):
        return Path(path)
    raise errors.Missing(f"{program} is not here, and launchers need it; run `make bootstrap`")


def _add_own(tree: _Tree, scratch: Path) -> None:
    """The project as the embedded home shows it to its launchers; of all packages only those it needs."""
    try:
        shown = launcher.image(scratch).mounts
    except KubevirtError as error:
        raise errors.ClusterError(str(error)) from None
    for mount in shown:
        source = Path(mount.source)
        if source == Path(sysconfig.get_path("purelib")):
            for name in sorted(_packages()):
                tree.add(source / name, f"{mount.target}/{name}")
        else:
            tree.add(source, mount.target)
    tree.add(Path(sys.executable).resolve())


def _packages() -> set[str]:
    """Files and folders of the packages that the project needs, and of what these need."""
    found = {each.name for each in Path(sysconfig.get_path("purelib")).glob("libvirt*")}
    waiting, known = [_DISTRIBUTION], set[str]()
    while waiting:
        name = waiting.pop()
        if name in known | _NOT_LOADED:
            continue
        known.add(name)
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # for another Python or another system
        if name != _DISTRIBUTION:
            found |= {path.parts[0] for path in distribution.files or () if path.parts[0] != ".."}
        waiting += [
            _name_of(each) for each in distribution.requires or () if "extra ==" not in each
        ]
    return found - _NOT_WANTED


def _name_of(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]


def _libraries(binaries: Sequence[Path]) -> Iterator[Path]:
    """What programs and modules load, as the machine's own loader finds it. Packages bring most of theirs."""
    listed = subprocess.run(["ldd", *binaries], capture_output=True, text=True, check=False).stdout
    found = {Path(each) for each in _LIBRARY.findall(listed)}
    return (each for each in sorted(found) if each.parts[1] in {"usr", *_LINKS})


def _furniture() -> dict[str, images.File]:
    """Users, and the folders and links that every root has."""
    files = {name: images.File(mode=mode, is_folder=True) for name, mode in _EMPTY.items()}
    files |= {name: images.File(link=f"usr/{name}") for name in _LINKS}
    files["var/run"] = images.File(link="../run")
    users = Path(sandbox.__file__).with_name("etc")
    for name in ("passwd", "group"):
        files[f"etc/{name}"] = images.File((users / name).read_bytes(), 0o644)
    return files


def _place(path: str) -> str:
    """Below the image's root, where /bin, /lib and the like are links into /usr."""
    name = os.path.normpath(path).lstrip("/")
    return f"usr/{name}" if name.partition("/")[0] in _LINKS else name
