"""The administrator's kubeconfig, and the context `kubevirt` in the user's own.

The user's file is theirs: other entries stay as they are, it is written at once or not at all, under the
lock that kubectl takes, and one that cannot be understood is not touched. The current context is set only
where there is none. Comments do not survive, as with kubectl itself.
"""

import os
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import yaml

from kubevirt.base.errors import ConfigError

NAME: Final = "kubevirt"
_KINDS: Final = ("clusters", "users", "contexts")
_LOCK_S: Final = 2.0
_PAUSE_S: Final = 0.05
_PRIVATE: Final = 0o600

Object = dict[str, Any]


def content(url: str, authority: bytes, certificate: bytes, key: bytes) -> Object:
    """For the administrator; all are PEM."""
    user = {"client-certificate-data": _base64(certificate), "client-key-data": _base64(key)}
    cluster = {"server": url, "certificate-authority-data": _base64(authority)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": NAME, "user": user}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
        "current-context": NAME,
    }


def text(content: Mapping[str, Any]) -> bytes:
    return yaml.dump(content, Dumper=yaml.CSafeDumper, sort_keys=False).encode()


def user_file(env: Mapping[str, str]) -> Path:
    """Where kubectl would write: the first file of KUBECONFIG, or the one in the user's home."""
    listed = [each for each in env.get("KUBECONFIG", "").split(os.pathsep) if each]
    return Path(listed[0] if listed else Path(env.get("HOME") or "/root") / ".kube" / "config")


def merge(file: Path, own: Path) -> bool:
    """Our entries into the user's file. Whether anything changed."""
    content = _read_own(own)
    return _change(file, lambda found: merged(found, content))


def take_out(file: Path, own: Path) -> bool:
    """Our entries out of the user's file, if they are still ours. Whether anything changed."""
    if not file.exists():
        return False
    return _change(file, lambda found: without(found, _read(own)))


def merged(found: Object, own: Object) -> Object:
    result = {"apiVersion": "v1", "kind": "Config", **found}
    for kind in _KINDS:
        others = [each for each in found.get(kind) or () if each.get("name") != NAME]
        result[kind] = [*others, *own[kind]]
    result["current-context"] = found.get("current-context") or NAME
    return result


def without(found: Object, own: Object) -> Object:
    """A context of the same name may by now be another home's."""
    if _authority(found) != _authority(own):
        return found
    result = dict(found)
    for kind in _KINDS:
        result[kind] = [each for each in found.get(kind) or () if each.get("name") != NAME]
    if found.get("current-context") == NAME:
        result["current-context"] = ""
    return result


def _authority(content: Object) -> str | None:
    for each in content.get("clusters") or ():
        if each.get("name") == NAME:
            return str((each.get("cluster") or {}).get("certificate-authority-data"))
    return None


def _change(file: Path, change: Callable[[Object], Object]) -> bool:
    file = file.resolve()  # a link stays one
    try:
        file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        with _locked(file):
            found = _read(file) if file.exists() else {}
            wanted = change(found)
            if wanted == found:
                return False
            _replace(file, text(wanted))
    except OSError as error:
        raise ConfigError(
            f"the kubeconfig {file} cannot be written: {error.strerror}; correct its permissions, or use "
            "--no-merge-kubeconfig"
        ) from None
    return True


def _read_own(file: Path) -> Object:
    try:
        return _read(file)
    except OSError as error:
        raise ConfigError(
            f"the kubeconfig of the home, {file}, cannot be read: {error.strerror}; use sudo, or "
            "--no-merge-kubeconfig"
        ) from None


def _read(file: Path) -> Object:
    try:
        found = yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader) or {}
    except (yaml.YAMLError, ValueError):
        found = None
    if not isinstance(found, dict) or not all(_is_list(found.get(kind)) for kind in _KINDS):
        raise ConfigError(
            f"{file} is no kubeconfig that can be read, so it was not touched; correct it, or use "
            "--no-merge-kubeconfig"
        )
    return found


def _is_list(entries: object) -> bool:
    return entries is None or (
        isinstance(entries, list) and all(isinstance(each, dict) for each in entries)
    )


def _replace(file: Path, data: bytes) -> None:
    mode = file.stat().st_mode & 0o777 if file.exists() else _PRIVATE
    owner = file.stat() if file.exists() else file.parent.stat()
    draft = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(fd, "wb") as output:
            output.write(data)
            os.fchown(fd, owner.st_uid, owner.st_gid)
            os.fsync(fd)
        draft.rename(file)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """As kubectl does: a file beside it that only one can make."""
    lock = file.with_name(f"{file.name}.lock")
    until = time.monotonic() + _LOCK_S
    while True:
        try:
            os.close(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0))
            break
        except FileExistsError:
            if time.monotonic() > until:
                raise ConfigError(
                    f"{lock} says that somebody is writing {file}; if nobody is, remove it, and merge "
                    "with: virtctl up"
                ) from None
            time.sleep(_PAUSE_S)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _base64(data: bytes) -> str:
    return b64encode(data).decode()
