"""Capabilities: the rights of the administrator in pieces, by Kubernetes' names and the kernel's numbers."""

from collections.abc import Iterable
from typing import Final

from kubevirt.base.errors import UserError

NAMES: Final = (
    *("CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID"),
    *("SETPCAP", "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW"),
    *("IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT"),
    *("SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD"),
    *("LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG"),
    *("WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF", "CHECKPOINT_RESTORE"),
)
"""In the order of their numbers."""
DEFAULT: Final = frozenset(
    {
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD"),
        *("NET_BIND_SERVICE", "NET_RAW", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    }
)
"""What a container has that says nothing of it, as in the common runtimes."""
_ALL: Final = "ALL"


def granted(add: Iterable[str] = (), drop: Iterable[str] = ()) -> frozenset[str]:
    """What a container has after its security context. Adding comes last, so that one can drop all
    and add one.
    """
    added, dropped = frozenset(map(_plain, add)), frozenset(map(_plain, drop))
    kept = frozenset() if _ALL in dropped else DEFAULT - dropped
    return frozenset(NAMES) - dropped if _ALL in added else kept | added


def mask(names: Iterable[str]) -> int:
    """As the kernel counts them."""
    return sum(1 << NAMES.index(name) for name in set(names))


def _plain(name: str) -> str:
    plain = name.upper().removeprefix("CAP_")
    if plain != _ALL and plain not in NAMES:
        raise UserError(f"there is no capability {name!r}; see capabilities(7)")
    return plain
