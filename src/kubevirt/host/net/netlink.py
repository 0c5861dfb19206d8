"""pyroute2, as little of it as serves.

Its package imports all that it can do: 14 MB and 70 ms. Half of that is saved by importing the one
module needed below a package that stands empty in its place meanwhile. Afterwards the empty one is
taken away, so that `import pyroute2` still means the whole for whoever asks.
"""

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from types import ModuleType
from typing import Any, Final

_PACKAGE: Final = "pyroute2"
_MODULE: Final = "pyroute2.iproute.linux"
_once: Final = Lock()
"""Threads of several namespaces may come first at the same time, and one would take away the other's stand-in."""


def open_route_socket() -> Any:
    """A socket for links, addresses and routes in the calling thread's namespace; close it there."""
    with _once:
        module = _imported(_MODULE)
    return module.IPRoute()


@contextmanager
def os_errors() -> Iterator[None]:
    """Makes of the kernel's refusals by netlink what all its other refusals are: an OSError."""
    try:
        yield
    except Exception as error:
        number = getattr(error, "code", None)
        if isinstance(error, OSError) or not isinstance(number, int):
            raise
        raise OSError(number, os.strerror(number)) from None


def _imported(name: str) -> ModuleType:
    if name in sys.modules or _PACKAGE in sys.modules:
        return importlib.import_module(name)
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.submodule_search_locations is None:
        return importlib.import_module(name)  # tells what is missing
    stand_in = ModuleType(_PACKAGE)
    stand_in.__path__ = list(spec.submodule_search_locations)
    stand_in.__spec__ = spec
    sys.modules[_PACKAGE] = stand_in
    try:
        return importlib.import_module(name)
    finally:
        del sys.modules[_PACKAGE]
