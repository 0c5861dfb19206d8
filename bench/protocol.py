"""What a contender says to the driver and waits for; the same for every language.

    contender                                      driver
    {"event": "ready"}                       →     notes memory: connected, nothing cached
                                             ←     go
    {"event": "synced", "seconds", "objects"} →
    {"event": "settled"}                     →     notes memory: garbage given back to the kernel
                                             ←     end

A contender that catches up with changes (`--list-at`, `--until`) says `followed` with `seconds` and
`events` instead of `settled`, and ends. `cpu_seconds` are its own, of all its threads, over the same time
as `seconds`. Only the standard library is imported here: every Python contender pays for it alike.
"""

import argparse
import ctypes
import gc
import json
import sys
import time
from typing import Any


class Stopwatch:
    """Wall and processor time since it was made."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._cpu = time.process_time()

    def read(self) -> dict[str, float]:
        return {
            "seconds": time.perf_counter() - self._began,
            "cpu_seconds": time.process_time() - self._cpu,
        }


def tell(event: str, **values: Any) -> None:
    print(json.dumps({"event": event, **values}), flush=True)


def wait_for_driver() -> None:
    if not sys.stdin.readline():
        sys.exit(0)  # The driver is gone.


def settle() -> None:
    """Give back to the kernel what no longer belongs to the cache."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def arguments(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument(
        "--list-at", default="", help="list at this resource version, then catch up"
    )
    parser.add_argument("--until", default="", help="the resource version that ends catching up")
    return parser
