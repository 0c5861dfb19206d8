"""Where a pod's container is: the node that runs it, and the path there under which it is known."""

from typing import Any, Final
from urllib.parse import quote

import msgspec

from kubevirt.api.meta import StatusDetails
from kubevirt.apiserver import refusals
from kubevirt.apiserver.refusals import Refusal, bad_request, refusal
from kubevirt.apiserver.registry import incoming, stored
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.schema.field_errors import FieldError, forbidden, invalid

Object = dict[str, Any]

KUBELET_PORT: Final = 10250
_ADDRESSES: Final = ("InternalIP", "Hostname", "ExternalIP")
"""By which a node is reached, the best first."""
_ALL_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
_LOG_NUMBERS: Final = ("sinceSeconds", "tailLines", "limitBytes")
_LOG_FLAGS: Final = ("follow", "previous", "timestamps")


class Location(msgspec.Struct, frozen=True, kw_only=True):
    host: str
    port: int
    path: str
    """Without what was asked for."""

    @property
    def origin(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"https://{host}:{self.port}"


async def locate(registry: Registry, call: Call, place: str) -> Location | None:
    """Of the container that a call names, or of the only one; `place` is what the node calls the
    endpoint. None for a pod that is nowhere yet.
    """
    pod_call = msgspec.structs.replace(call, subresource="")
    _, pod = await registry.read(pod_call)
    container = _container(pod, call.first("container"))
    node_name = pod["spec"].get("nodeName")
    if not node_name:
        return None
    kind = registry.catalog.kind("", "nodes")
    entry = await registry.store.get(kind.key("", node_name))
    if entry is None:
        raise refusals.not_found(call.kind, node_name)  # said about pods, as in Kubernetes
    status = stored.object_of(entry, "v1").get("status") or {}
    names = (pod["metadata"]["namespace"], pod["metadata"]["name"], container)
    return Location(
        host=_host(status.get("addresses") or []),
        port=_port(status),
        path="/".join(["", place, *map(quote, names)]),
    )


def _container(pod: Object, wanted: str) -> str:
    name = pod["metadata"]["name"]
    spec = pod["spec"]
    known = [each["name"] for place in _ALL_CONTAINERS for each in spec.get(place) or []]
    if wanted:
        if wanted not in known:
            raise bad_request(f"container {wanted} is not valid for pod {name}")
        return wanted
    containers = spec.get("containers") or []
    if len(containers) != 1:
        listed = f"choose one of: [{' '.join(known)}]"
        raise bad_request(f"a container name must be specified for pod {name}, {listed}")
    return str(containers[0]["name"])


def _host(addresses: list[Object]) -> str:
    for kind in _ADDRESSES:
        for address in addresses:
            if address.get("type") == kind:
                return str(address["address"])
    known = " ".join(f"{{{each.get('type')} {each.get('address')}}}" for each in addresses)
    raise refusal(500, "", f"no preferred addresses found; known addresses: [{known}]")


def _port(status: Object) -> int:
    endpoint = (status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}
    return endpoint.get("Port") or KUBELET_PORT


# Logs


def log_parameters(call: Call) -> list[tuple[str, str]]:
    """What a node is asked for of a log; refuses what makes no sense."""
    numbers = {name: _number(call, name) for name in _LOG_NUMBERS if call.first(name)}
    if wrong := list(_wrong(call, numbers)):
        raise _invalid(call, wrong)
    flags = [(name, "true") for name in _LOG_FLAGS if is_set(call, name)]
    since = [("sinceTime", call.first("sinceTime"))] if call.first("sinceTime") else []
    return [*flags, *((name, str(value)) for name, value in numbers.items()), *since]


def is_set(call: Call, name: str) -> bool:
    return name in call.query and call.first(name) not in ("0", "f", "F", "false", "FALSE", "False")


def _number(call: Call, name: str) -> int:
    text = call.first(name)
    if not text.lstrip("+-").isdigit():
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    return int(text)


def _wrong(call: Call, numbers: dict[str, int]) -> list[FieldError]:
    found = []
    if numbers.get("tailLines", 0) < 0:
        words = "must be greater than or equal to 0"
        found.append(invalid("tailLines", numbers["tailLines"], words))
    if numbers.get("limitBytes", 1) < 1:
        found.append(invalid("limitBytes", numbers["limitBytes"], "must be greater than 0"))
    if "sinceSeconds" in numbers and call.first("sinceTime"):
        words = "at most one of `sinceTime` or `sinceSeconds` may be specified"
        found.append(forbidden("[]", words))
    elif numbers.get("sinceSeconds", 1) < 1:
        found.append(invalid("sinceSeconds", numbers["sinceSeconds"], "must be greater than 0"))
    return found


def _invalid(call: Call, wrong: list[FieldError]) -> Refusal:
    causes = tuple(map(incoming.cause, wrong))
    details = StatusDetails(name=call.name, kind="PodLogOptions", causes=causes)
    lines = [str(each) for each in wrong]
    shown = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
    message = f'PodLogOptions "{call.name}" is invalid: {shown}'
    return refusal(422, "Invalid", message, details=details)
