"""How a container is asked whether it is well, and told what happens to it."""

from collections.abc import Callable
from typing import Final

from kubevirt.apiserver.registry.rules import checks
from kubevirt.apiserver.registry.rules.checks import Errors
from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema.field_errors import forbidden, invalid, required

_NUMBERS: Final = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)
_OF_PROBES: Final = ("exec", "httpGet", "tcpSocket", "grpc")
_OF_LIFE: Final = ("exec", "httpGet", "tcpSocket", "sleep")
_SCHEMES: Final = ("HTTP", "HTTPS")
_GRACE: Final = "terminationGracePeriodSeconds"


def probes(container: Object, path: str) -> Errors:
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if (probe := container.get(name)) is not None:
            yield from _probe(probe, f"{path}.{name}", is_readiness=name == "readinessProbe")


def _probe(probe: Object, path: str, *, is_readiness: bool) -> Errors:
    yield from _handler(probe, path, _OF_PROBES, grace_s=None)
    for name in _NUMBERS:
        yield from checks.not_negative(f"{path}.{name}", probe.get(name, 0))
    grace_s = probe.get(_GRACE)
    if grace_s is not None and grace_s <= 0:
        yield invalid(f"{path}.{_GRACE}", grace_s, "must be greater than 0")
    if is_readiness:
        if grace_s is not None:
            yield invalid(f"{path}.{_GRACE}", grace_s, "must not be set for readinessProbes")
    elif probe.get("successThreshold") != 1:
        yield invalid(f"{path}.successThreshold", probe.get("successThreshold", 0), "must be 1")


def lifecycle(said: Object, path: str, *, grace_s: int | None, has_os: bool) -> Errors:
    for name in ("postStart", "preStop"):
        if (handler := said.get(name)) is not None:
            yield from _handler(handler, f"{path}.{name}", _OF_LIFE, grace_s=grace_s)
    if said.get("stopSignal") is not None and not has_os:
        words = "may not be set for containers with empty `spec.os.name`"
        yield forbidden(f"{path}.stopSignal", words)


def _handler(handler: Object, path: str, kinds: tuple[str, ...], *, grace_s: int | None) -> Errors:
    found = [name for name in kinds if handler.get(name) is not None]
    if not found:
        yield required(path, "must specify a handler type")
        return
    first, *more = found
    if first == "sleep":
        yield from _sleep(handler[first], f"{path}.{first}", grace_s)
    else:
        yield from _ACTIONS[first](handler[first], f"{path}.{first}")
    for name in more:
        yield forbidden(f"{path}.{name}", "may not specify more than 1 handler type")


def _sleep(action: Object, path: str, grace_s: int | None) -> Errors:
    seconds = action.get("seconds", 0)
    if grace_s is not None and not 0 <= seconds <= grace_s:
        words = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_s})"
        yield invalid(path, seconds, words)


def _exec(action: Object, path: str) -> Errors:
    if not action.get("command"):
        yield required(f"{path}.command")


def _http(action: Object, path: str) -> Errors:
    if not action.get("path"):
        yield required(f"{path}.path")
    yield from checks.port(f"{path}.port", action.get("port"))
    yield from checks.one_of(f"{path}.scheme", action.get("scheme", ""), _SCHEMES)
    for header in action.get("httpHeaders") or []:
        yield from checks.named(f"{path}.httpHeaders", header.get("name", ""), checks.header_name)


def _port(action: Object, path: str) -> Errors:
    yield from checks.port(f"{path}.port", action.get("port"))


_ACTIONS: Final[dict[str, Callable[[Object, str], Errors]]] = {
    "exec": _exec,
    "httpGet": _http,
    "tcpSocket": _port,
    "grpc": _port,
}
