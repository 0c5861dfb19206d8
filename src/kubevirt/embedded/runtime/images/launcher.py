"""The image of virt-launcher: the built-in one, with this very program in it.

    /usr/bin/virt-launcher, virt-probe    two small scripts, laid over the machine's /usr
    /opt/kubevirt                         an environment of Python's, and below it, read-only:
    /opt/kubevirt/packages                what this program is built from
    /opt/kubevirt/source/kubevirt         the program itself, where it is not among its packages

Nothing else of the machine is seen than in the built-in image: no path of it, no home, no checkout. There is nothing to
pull and nothing to build, and a launcher is always of the version of the home that starts it.
"""

import sys
import sysconfig
from pathlib import Path
from typing import Final

import msgspec

import kubevirt
from kubevirt.base.errors import ConfigError
from kubevirt.embedded.node.neighbours import Image
from kubevirt.embedded.runtime.container import Mount
from kubevirt.embedded.runtime.images import built_in, shown
from kubevirt.host.oci.reference import Reference

NAME: Final = "kubevirt/virt-launcher"
_FULL_NAME: Final = f"docker.io/{NAME}"
PREFIX: Final = "/opt/kubevirt"
LEARNED: Final = "environment/learned"
"""Below the image's folder, and seen as PREFIX/learned: what is known of QEMU (`learning`)."""
_PROGRAMS: Final = {
    "virt-launcher": "kubevirt.components.launcher.main",
    "virt-probe": "kubevirt.components.launcher.probe",
}


def is_launcher(name: Reference) -> bool:
    """By any tag: there is one of it only, the one of this version."""
    return f"{name.registry}/{name.repository}" == _FULL_NAME and name.digest is None


def image(folder: Path) -> Image:
    """`folder` is for what is written of it; it may be there from before. Raises `ConfigError` where containers
    could not run this Python.
    """
    interpreter = Path(sys.executable).resolve()
    if not interpreter.is_relative_to("/usr"):
        raise ConfigError(
            f"launchers see /usr of this machine, and {interpreter} is not in it; install this program for the "
            "distribution's Python, with: make bootstrap"
        )
    _write_layer(folder / "layer")
    _write_environment(folder / "environment", interpreter)
    return msgspec.structs.replace(
        built_in.IMAGE, id=f"{_FULL_NAME}:{kubevirt.__version__}", mounts=_mounts(folder)
    )


def _mounts(folder: Path) -> tuple[Mount, ...]:
    packages = Path(sysconfig.get_path("purelib"))
    own = Path(kubevirt.__file__).parent
    found = [
        Mount(source=str(folder / "layer"), target="/usr", is_layer=True, is_read_only=True),
        _shown(folder / "environment", PREFIX),
        _shown(packages, f"{PREFIX}/packages"),
    ]
    if not own.is_relative_to(packages):
        found.append(_shown(own, f"{PREFIX}/source/kubevirt"))
    return tuple(found)


def _shown(source: Path, target: str) -> Mount:
    return Mount(source=str(source), target=target, is_read_only=True)


def _write_layer(folder: Path) -> None:
    for program, module in _PROGRAMS.items():
        script = f"#!{PREFIX}/bin/python3 -I\nimport sys\n\nfrom {module} import main\n\nsys.exit(main())\n"
        shown.write(folder / "bin" / program, script, 0o755)


def _write_environment(folder: Path, interpreter: Path) -> None:
    """As `venv` makes it: Python knows by its name which environment it belongs to."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    shown.write(
        folder / "pyvenv.cfg",
        f"home = {interpreter.parent}\ninclude-system-site-packages = false\n",
    )
    places = f"{PREFIX}/packages\n{PREFIX}/source\n"
    shown.write(folder / "lib" / version / "site-packages" / "kubevirt.pth", places)
    for place in ("packages", "source/kubevirt"):
        shown.make(folder / place)
    link = folder / "bin" / "python3"
    shown.make(link.parent)
    if not link.is_symlink() or link.readlink() != interpreter:
        link.unlink(missing_ok=True)
        link.symlink_to(interpreter)
