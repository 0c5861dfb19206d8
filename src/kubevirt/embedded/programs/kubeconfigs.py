"""A kubeconfig for each program that is a process of its own: who it is, and nothing that would make it more.

Certificates are named, not copied: a program reads them again when they are renewed.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from kubevirt.base.files import Root
from kubevirt.embedded.home import Home
from kubevirt.embedded.process.kubeconfig import text
from kubevirt.embedded.programs import sighted

_NAME: Final = "embedded"


class Server(dict[str, str]):
    """The API server, as one of them reaches it."""

    @classmethod
    def at(cls, url: str, authority: Path, *, name: str = "") -> "Server":
        """`name` is what its certificate is for, where that does not follow from the address."""
        found = {"server": url, "certificate-authority": str(authority)}
        return cls(found | ({"tls-server-name": name} if name else {}))


def write(home: Home, name: str, server: Server, user: Mapping[str, str]) -> Path:
    """Readable by root alone."""
    path = sighted.kubeconfig(home, name)
    content: Mapping[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": _NAME, "cluster": dict(server)}],
        "users": [{"name": name, "user": dict(user)}],
        "contexts": [{"name": _NAME, "context": {"cluster": _NAME, "user": name}}],
        "current-context": _NAME,
    }
    with Root.open(home.programs) as root:
        root.write(path.name, text(content))
    return path


def forget(home: Home) -> None:
    """All of them; their logs stay."""
    for each in home.programs.glob(f"*{sighted.KUBECONFIG}"):
        each.unlink(missing_ok=True)
