"""What cells of many kinds are made of."""

from typing import Any, Final

from kubevirt.apiserver.kinds.columns.ages import age

Object = dict[str, Any]

NONE: Final = "<none>"
_MODES: Final = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def at(object_: Object, *path: str) -> Any:
    """What stands there; an empty text if nothing does."""
    found: Any = object_
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    return "" if found is None else found


def age_of(object_: Object, now: float) -> str:
    return age(object_["metadata"].get("creationTimestamp"), now)


def access_modes(modes: list[str]) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in modes)


def ports_of(ports: list[Object]) -> str:
    texts = []
    for port in ports:
        node = f":{port['nodePort']}" if port.get("nodePort") else ""
        texts.append(f"{port.get('port')}{node}/{port.get('protocol', 'TCP')}")
    return ",".join(texts) or NONE
