"""The kubeconfig format: one file as typed entries, several files as one.

Fields that are not known are ignored, as kubectl does. Errors name the file, the place and the kind
of trouble, never the text that stands there: it may be a key.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
import yaml
from msgspec import field

from kubevirt.base.errors import ConfigError

E = TypeVar("E")


class Extension(msgspec.Struct):
    name: str
    extension: Any = None


class Cluster(msgspec.Struct, rename="kebab"):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: list[Extension] | None = None

    def __repr__(self) -> str:
        return "Cluster(…)"  # the proxy's URL may hold a password


class EnvironmentVariable(msgspec.Struct):
    name: str
    value: str = ""

    def __repr__(self) -> str:
        return f"EnvironmentVariable({self.name!r})"


class Exec(msgspec.Struct, rename="camel"):
    command: str
    api_version: str
    args: list[str] | None = None
    env: list[EnvironmentVariable] | None = None
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class AuthProvider(msgspec.Struct):
    name: str = ""


class User(msgspec.Struct, rename="kebab"):
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    impersonate: str = field(default="", name="as")
    impersonate_uid: str = field(default="", name="as-uid")
    impersonate_groups: list[str] | None = field(default=None, name="as-groups")
    impersonate_extra: dict[str, list[str]] | None = field(default=None, name="as-user-extra")
    exec: Exec | None = None
    auth_provider: AuthProvider | None = None

    def __repr__(self) -> str:
        return "User(…)"


class Context(msgspec.Struct):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class _NamedCluster(msgspec.Struct):
    name: str
    cluster: Cluster | None = None


class _NamedUser(msgspec.Struct):
    name: str
    user: User | None = None


class _NamedContext(msgspec.Struct):
    name: str
    context: Context | None = None


class _File(msgspec.Struct, rename="kebab"):
    clusters: list[_NamedCluster] | None = None
    users: list[_NamedUser] | None = None
    contexts: list[_NamedContext] | None = None
    current_context: str = ""


class Found(msgspec.Struct, Generic[E]):
    """An entry and the file that it stands in, which its relative paths start from."""

    entry: E
    path: Path


class Kubeconfig(msgspec.Struct):
    """Several files as one. The first file that has a name, or a current context, wins."""

    paths: Sequence[Path]
    clusters: dict[str, Found[Cluster]] = {}
    users: dict[str, Found[User]] = {}
    contexts: dict[str, Found[Context]] = {}
    current_context: str = ""


def read(paths: Sequence[Path]) -> Kubeconfig:
    merged = Kubeconfig(paths)
    for path in paths:
        file = _parse(path)
        merged.current_context = merged.current_context or file.current_context
        _add(merged.clusters, path, ((c.name, c.cluster or Cluster()) for c in file.clusters or ()))
        _add(merged.users, path, ((u.name, u.user or User()) for u in file.users or ()))
        _add(merged.contexts, path, ((c.name, c.context or Context()) for c in file.contexts or ()))
    return merged


def _add(known: dict[str, Found[E]], path: Path, entries: Iterable[tuple[str, E]]) -> None:
    for name, entry in entries:
        known.setdefault(name, Found(entry, path))


def _parse(path: Path) -> _File:
    try:
        data = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    except OSError as error:
        raise ConfigError(
            f"the kubeconfig {path} cannot be read: {error.strerror};"
            " correct the path or the file's permissions"
        ) from None
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(
            f"the kubeconfig {path} is not valid YAML{_place(error)}; correct the file"
        ) from None
    if data is None:
        return _File()
    try:
        return msgspec.convert(data, _File)
    except msgspec.ValidationError as error:
        raise ConfigError(
            f"the kubeconfig {path} has a wrong entry: {error}; correct the file"
        ) from None


def _place(error: Exception) -> str:
    problem = getattr(error, "problem", None)
    mark = getattr(error, "problem_mark", None)
    if problem is None or mark is None:
        return ""
    without_quotes = re.sub(r"(['\"]).{2,}?\1", "…", str(problem))
    return f": {without_quotes} (line {mark.line + 1}, column {mark.column + 1})"
