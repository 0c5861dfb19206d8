"""On what, and with which versions, a result was made: without it a number says little."""

import hashlib
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

from clusterup import binaries, settings

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("aiohttp", "kubernetes", "msgspec")


def facts() -> dict[str, Any]:
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "go": _said("go", "env", "GOVERSION"),
        "modules": _module_versions(),
        "sources": sources(),
        "commit": _said("git", "-C", str(ROOT), "describe", "--always", "--dirty"),
    }


def sources() -> str:
    """A digest of what is measured: in a shared checkout it may change during a run."""
    digest = hashlib.sha256()
    for folder in ("src/kubevirt", "bench"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _module_versions() -> dict[str, str]:
    providers = (settings.PROVIDERS / settings.KUBERNETES, ROOT / "bench" / "peers")
    wanted = ("client-go", "etcd", "kubernetes")
    modules = (module for folder in providers for module in binaries.read_modules(folder))
    return {module.name: module.version for module in modules if module.name in wanted}


def _said(*argv: str) -> str:
    try:
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""
