"""What a pod and its containers may be on the machine."""

import re
from typing import Final

from kubevirt.apiserver.registry.rules import checks
from kubevirt.apiserver.registry.rules.checks import INT32, Errors
from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema.field_errors import (
    Verbatim,
    duplicate,
    forbidden,
    invalid,
    required,
    too_long,
)
from kubevirt.apiserver.schema.gotext import json

_SYSCTL: Final = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
_PROFILES: Final = ("Localhost", "RuntimeDefault", "Unconfined")
_PATH_LIMIT: Final = 4095
_OF_NETWORK: Final = ("net.",)
_OF_IPC: Final = ("kernel.msg", "kernel.sem", "kernel.shm", "fs.mqueue.")


def of_pod(spec: Object, path: str) -> Errors:
    context = spec.get("securityContext") or {}
    yield from _ids(context, path, ("fsGroup", "runAsUser", "runAsGroup"))
    for at, group in enumerate(context.get("supplementalGroups") or []):
        yield from checks.within(f"{path}.supplementalGroups[{at}]", group, 0, INT32)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        words = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(f"{path}.shareProcessNamespace", True, words)
    yield from _sysctls(context.get("sysctls") or [], spec, f"{path}.sysctls")
    for name, known in (
        ("fsGroupChangePolicy", ("Always", "OnRootMismatch")),
        ("supplementalGroupsPolicy", ("Merge", "Strict")),
        ("seLinuxChangePolicy", ("Recursive",)),
    ):
        if (policy := context.get(name)) is not None:
            yield from checks.one_of(f"{path}.{name}", policy, known)
    yield from _seccomp(context.get("seccompProfile"), f"{path}.seccompProfile")
    yield from _app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile")


def _ids(context: Object, path: str, fields: tuple[str, ...]) -> Errors:
    for name in fields:
        if (number := context.get(name)) is not None:
            yield from checks.within(f"{path}.{name}", number, 0, INT32)


def _sysctls(found: list[Object], spec: Object, path: str) -> Errors:
    seen: set[str] = set()
    for at, each in enumerate(found):
        field, name = f"{path}[{at}].name", each.get("name", "")
        if not name:
            yield required(field)
        elif len(name) > 253 or not re.match(_SYSCTL, name):
            words = f"must have at most 253 characters and match regex {_SYSCTL}"
            yield invalid(field, name, words)
        elif name in seen:
            yield duplicate(field, name)
        seen.add(name)
        plain = name.replace("/", ".")
        if spec.get("hostNetwork") and plain.startswith(_OF_NETWORK):
            yield invalid(field, name, "may not be specified when 'hostNetwork' is true")
        elif spec.get("hostIPC") and plain.startswith(_OF_IPC):
            yield invalid(field, name, "may not be specified when 'hostIPC' is true")


def of_container(context: Object | None, path: str, *, uses_host_users: bool) -> Errors:
    if context is None:
        return
    yield from _ids(context, path, ("runAsUser", "runAsGroup"))
    if (proc := context.get("procMount")) is not None:
        yield from checks.one_of(f"{path}.procMount", proc, ("Default", "Unmasked"))
        if uses_host_users and proc == "Unmasked":
            yield invalid(f"{path}.procMount", proc, "`hostUsers` must be false to use `Unmasked`")
    yield from _seccomp(context.get("seccompProfile"), f"{path}.seccompProfile")
    if context.get("allowPrivilegeEscalation") is False:
        shown = Verbatim(_as_go(context))
        if context.get("privileged"):
            words = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            yield invalid(path, shown, words)
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or []):
            words = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            yield invalid(path, shown, words)
    yield from _app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile")


_GO_FIELDS: Final = (
    "Capabilities",
    "Privileged",
    "SELinuxOptions",
    "WindowsOptions",
    "RunAsUser",
    "RunAsGroup",
    "RunAsNonRoot",
    "ReadOnlyRootFilesystem",
    "AllowPrivilegeEscalation",
    "ProcMount",
    "SeccompProfile",
    "AppArmorProfile",
)


def _as_go(context: Object) -> str:
    """As the server's own type is printed, which has no names for JSON."""
    shown = []
    for name in _GO_FIELDS:
        said = context.get(_field(name))
        if name == "Capabilities" and said is not None:
            said_text = f'{{"Add":{json(said.get("add"))},"Drop":{json(said.get("drop"))}}}'
        else:
            said_text = json(said)
        shown.append(f'"{name}":{said_text}')
    return "{" + ",".join(shown) + "}"


def _field(name: str) -> str:
    return "seLinuxOptions" if name == "SELinuxOptions" else name[0].lower() + name[1:]


def _seccomp(profile: Object | None, path: str) -> Errors:
    if profile is None:
        return
    kind, place = profile.get("type", ""), profile.get("localhostProfile")
    words = "type is required when seccompProfile is set"
    yield from checks.one_of(f"{path}.type", kind, _PROFILES, needed=words)
    if kind != "Localhost":
        if place is not None:
            shown = Verbatim(f'{{"Type":{json(kind)},"LocalhostProfile":{json(place)}}}')
            words = "can only be set when seccomp type is Localhost"
            yield invalid(f"{path}.localhostProfile", shown, words)
    elif place is None:
        words = "must be set when seccomp type is Localhost"
        yield required(f"{path}.localhostProfile", words)
    else:
        yield from checks.way_down(f"{path}.localhostProfile", place)


def _app_armor(profile: Object | None, path: str) -> Errors:
    if profile is None:
        return
    kind, place = profile.get("type", ""), profile.get("localhostProfile")
    field, needed = f"{path}.localhostProfile", "must be set when AppArmor type is Localhost"
    if kind != "Localhost":
        words = "type is required when appArmorProfile is set"
        yield from checks.one_of(f"{path}.type", kind, _PROFILES, needed=words)
        if kind in _PROFILES and place is not None:
            yield invalid(field, place, "can only be set when AppArmor type is Localhost")
    elif not place:
        yield required(field, needed)
    else:
        if place != place.strip():
            yield invalid(field, place, "must not be padded with whitespace")
        if len(place.encode()) > _PATH_LIMIT:
            yield too_long(field, _PATH_LIMIT)


def host_users(spec: Object, path: str) -> Errors:
    """What cannot go together with users of the pod's own."""
    if spec.get("hostUsers") is not False:
        return
    for name, shown in (
        ("hostNetwork", "hostNetwork"),
        ("hostPID", "HostPID"),
        ("hostIPC", "HostIPC"),
    ):
        if spec.get(name):
            yield forbidden(f"{path}.{shown}", "when `hostUsers` is false")
