"""Fields that are there, but belong to features that Kubernetes 1.34 leaves off: they are dropped."""

from typing import Final

from kubevirt.apiserver.registry.rules.rules import Object

_OF_SPEC: Final = ("hostnameOverride",)
_OF_CONTAINER: Final = ("restartPolicyRules",)


def known_spec(spec: Object) -> Object:
    made = _without(spec, _OF_SPEC)
    for place in ("containers", "initContainers"):
        if made.get(place):
            made = {**made, place: [_container(each, place) for each in made[place]]}
    return made


def _container(container: Object, place: str) -> Object:
    """Only init containers restart in a way of their own, and only always."""
    is_sidecar = place == "initContainers" and container.get("restartPolicy") == "Always"
    dropped = _OF_CONTAINER if is_sidecar else (*_OF_CONTAINER, "restartPolicy")
    made = _without(container, dropped)
    life = made.get("lifecycle") or {}
    if "stopSignal" not in life:
        return made
    rest = _without(life, ("stopSignal",))
    return {**made, "lifecycle": rest} if rest else _without(made, ("lifecycle",))


def _without(object_: Object, names: tuple[str, ...]) -> Object:
    if not any(name in object_ for name in names):
        return object_
    return {name: value for name, value in object_.items() if name not in names}
