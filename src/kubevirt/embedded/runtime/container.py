"""What a container is, for those who run it: data, and nothing that could not be read again later."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from kubevirt.embedded.runtime import capabilities

LOG_BYTES: Final = 10 * 1024 * 1024
LOG_FILES: Final = 5
"""As a kubelet has it."""


class Mount(msgspec.Struct, frozen=True, kw_only=True):
    source: str
    """On the machine; trusted, so whoever says it has looked."""
    target: str
    is_read_only: bool = False
    is_device: bool = False
    is_layer: bool = False
    """Laid over what the image has there, read-only, instead of in its place."""


class Rights(msgspec.Struct, frozen=True, kw_only=True):
    user: int = 0
    group: int = 0
    groups: Sequence[int] = ()
    capabilities: Sequence[str] = tuple(sorted(capabilities.DEFAULT))
    is_filtered: bool = True
    """Whether system calls that no container needs are refused."""


class Container(msgspec.Struct, frozen=True, kw_only=True):
    command: Sequence[str]
    environment: Mapping[str, str] = {}
    folder: str = "/"
    """Where the command begins."""
    rights: Rights = Rights()
    root: str = ""
    """The root file system on the machine; empty for the built-in image."""
    is_root_read_only: bool = False
    mounts: Sequence[Mount] = ()
    """Outer ones first."""
    hostname: str = ""
    network: str = ""
    """A file that stands for a network namespace; empty for the machine's own."""
    cgroups: Sequence[str] = ()
    """Folders of the control groups that it runs in."""
    has_input: bool = False
    """Whether whoever attaches to it can say something to it. Else its standard input is empty."""
    log_bytes: int = LOG_BYTES
    log_files: int = LOG_FILES
