"""What each process of a launcher imports before its guest runs: a start is measured in milliseconds.

Some libraries take as long to import as all the rest together. That they come late, or never, is easily lost by a
line at the top of a file far away.
"""

import subprocess
import sys

import pytest

HEAVY = (
    "aiohttp",
    "asyncio",
    "google",
    "grpc",
    "libvirt",
    "pycdlib",
    "pyroute2",
    "structlog",
    "yaml",
)
LAUNCHER = "kubevirt.components.launcher"


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        (f"{LAUNCHER}.main", ()),
        (f"{LAUNCHER}.flags", ()),
        (f"{LAUNCHER}.launching", ()),
        (f"{LAUNCHER}.standalone.cli", ("asyncio",)),
        (f"{LAUNCHER}.standalone.running", ("asyncio", "yaml")),
        (f"{LAUNCHER}.standalone.keeper", ()),
        (f"{LAUNCHER}.monitor", ()),
        (f"{LAUNCHER}.manager", ("asyncio",)),
        (f"{LAUNCHER}.managing", ("asyncio", "libvirt")),
        (f"{LAUNCHER}.preparation", ("asyncio",)),
        (f"{LAUNCHER}.talking", ("asyncio", "google", "grpc", "libvirt")),
    ],
)
def test_a_process_imports_no_more_than_it_needs(module: str, allowed: tuple[str, ...]) -> None:
    program = f"import sys, {module}; print(*[each for each in {HEAVY} if each in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-I", "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert set(done.stdout.split()) == set(allowed)
