"""What a pod is taken to say where it says nothing."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.base.quantity import MILLI, Quantity

Change = Callable[[Object], Object]

_SPEC: Final[Object] = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
    "schedulerName": "default-scheduler",
    "enableServiceLinks": True,
}
_CONTAINER: Final[Object] = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "resources": {},
}
_PROBE: Final[Object] = {
    "timeoutSeconds": 1,
    "periodSeconds": 10,
    "successThreshold": 1,
    "failureThreshold": 3,
}
_HTTP_GET: Final[Object] = {"path": "/", "scheme": "HTTP"}
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_FILES: Final = 0o644
_HOUR_S: Final = 3600
_OF_PODS: Final = ("cpu", "memory", "hugepages-")
_NOTHING: Final = Quantity.of(0)
CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
OTHER_THAN_SOURCE: Final = "name"
"""The one field of a volume that does not say what it is."""


def defaulted(pod: Object) -> Object:
    spec: Object = pod.get("spec") or {}
    spec = {**spec, **_missing(_SPEC, spec)}
    spec = _each(spec, "volumes", _volume)
    for name in CONTAINERS:
        spec = _each(spec, name, _container)
    for name in CONTAINERS[:2]:
        spec = _each(spec, name, _with_requests)
        if spec.get("hostNetwork"):
            spec = _each(spec, name, _on_host_ports)
    if spec.get("resources"):
        spec = {**spec, "resources": with_shared_requests(_rounded(spec["resources"]), spec)}
    if account := spec.get("serviceAccountName") or spec.get("serviceAccount"):
        # The second is the name that the field had before it was called an account's name.
        spec = {**spec, "serviceAccountName": account, "serviceAccount": account}
    return {**pod, "spec": spec}


def _missing(defaults: Object, said: Object) -> Object:
    """Those that were not said; a pointer's zero was."""
    return {
        name: value
        for name, value in defaults.items()
        if name not in said or (not said[name] and isinstance(said[name], str))
    }


def _each(owner: Object, name: str, change: Change) -> Object:
    """With every element of a list changed; the same if there is no such list."""
    found = owner.get(name)
    return {**owner, name: [change(each) for each in found]} if found else owner


def _inside(owner: Object, name: str, change: Change) -> Object:
    """With what stands in a field changed, if anything does."""
    found = owner.get(name)
    return {**owner, name: change(found)} if isinstance(found, dict) else owner


def _filled(defaults: Mapping[str, Any]) -> Change:
    def fill(said: Object) -> Object:
        return {**defaults, **{name: value for name, value in said.items() if value}}

    return fill


# Containers


def pull_policy(image: str) -> str:
    """By its tag; an image without a tag and without a digest is the latest."""
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    is_latest = tag == "latest" or not (tag or digest)
    return "Always" if is_latest else "IfNotPresent"


def _container(container: Object) -> Object:
    made = {**container, **_missing(_CONTAINER, container)}
    made.setdefault("imagePullPolicy", pull_policy(container.get("image", "")))
    made = _inside(made, "resources", _rounded)
    made = _each(made, "ports", _filled({"protocol": "TCP"}))
    made = _each(made, "env", _variable)
    for name in _PROBES:
        made = _inside(made, name, _probe)
    return _inside(made, "lifecycle", _lifecycle)


def _variable(variable: Object) -> Object:
    return _inside(variable, "valueFrom", _value_from)


def _value_from(source: Object) -> Object:
    source = _inside(source, "fileKeyRef", lambda said: {"optional": False, **said})
    return _inside(source, "fieldRef", _filled({"apiVersion": "v1"}))


def _probe(probe: Object) -> Object:
    made = _inside(_filled(_PROBE)(probe), "httpGet", _filled(_HTTP_GET))
    if "terminationGracePeriodSeconds" in probe:
        made["terminationGracePeriodSeconds"] = probe["terminationGracePeriodSeconds"]
    for name in ("exec", "tcpSocket", "httpGet", "grpc"):
        if name in probe and name not in made:
            made[name] = probe[name]
    return _inside(made, "grpc", lambda said: {**said, "service": said.get("service") or ""})


def _lifecycle(lifecycle: Object) -> Object:
    for name in ("postStart", "preStop"):
        lifecycle = _inside(
            lifecycle, name, lambda handler: _inside(handler, "httpGet", _filled(_HTTP_GET))
        )
    return lifecycle


def _with_requests(container: Object) -> Object:
    """Whoever says how much at most and not how much asks for as much."""
    resources = container.get("resources") or {}
    if not resources.get("limits"):
        return container
    requests = {**resources["limits"], **(resources.get("requests") or {})}
    return {**container, "resources": {**resources, "requests": requests}}


def _rounded(resources: Object) -> Object:
    """Thousandths are the least that can be asked for."""
    for name in ("limits", "requests"):
        if found := resources.get(name):
            resources = {**resources, name: {key: _milli(value) for key, value in found.items()}}
    return resources


def with_shared_requests(whole: Object, spec: Object) -> Object:
    """A pod that says how much at most asks for what its containers do, and else for as much."""
    limits = whole.get("limits")
    if not limits:
        return whole
    most = {name: each for name, each in limits.items() if name.startswith(_OF_PODS)}
    asked = aggregate(spec, "requests")
    shared = {name: str(asked[name]) for name in ("cpu", "memory") if name in asked}
    return {**whole, "requests": {**most, **shared, **(whole.get("requests") or {})}}


def aggregate(spec: Object, name: str) -> dict[str, Quantity]:
    """What all containers ask for at the moment when they ask for most."""
    lasting = _sum(spec.get("containers") or [], name)
    beside: dict[str, Quantity] = {}
    most: dict[str, Quantity] = {}
    for container in spec.get("initContainers") or []:
        own = _sum([container], name)
        if container.get("restartPolicy") == "Always":
            beside = _added(beside, own)
            own = beside
        else:
            own = _added(beside, own)
        most = {key: max(own.get(key, _NOTHING), most.get(key, _NOTHING)) for key in own | most}
    lasting = _added(lasting, beside)
    return {key: max(lasting.get(key, _NOTHING), most.get(key, _NOTHING)) for key in lasting | most}


def _sum(containers: list[Object], name: str) -> dict[str, Quantity]:
    found: dict[str, Quantity] = {}
    for container in containers:
        said = (container.get("resources") or {}).get(name) or {}
        found = _added(found, {key: Quantity.parse(text) for key, text in said.items()})
    return found


def _added(one: dict[str, Quantity], other: dict[str, Quantity]) -> dict[str, Quantity]:
    return {key: one.get(key, _NOTHING) + other.get(key, _NOTHING) for key in one | other}


def _milli(quantity: str) -> str:
    return str(Quantity.parse(quantity).rounded_up(MILLI))


def _on_host_ports(container: Object) -> Object:
    def with_host_port(port: Object) -> Object:
        return port if port.get("hostPort") else {**port, "hostPort": port.get("containerPort", 0)}

    return _each(container, "ports", with_host_port)


# Volumes


def _volume(volume: Object) -> Object:
    if not [name for name in volume if name != OTHER_THAN_SOURCE]:
        return {**volume, "emptyDir": {}}
    volume = _inside(volume, "hostPath", lambda said: {"type": "", **said})
    for name in ("secret", "configMap", "downwardAPI", "projected"):
        volume = _inside(volume, name, lambda said: {"defaultMode": _FILES, **said})
    volume = _inside(volume, "downwardAPI", _downward)
    volume = _inside(volume, "projected", lambda said: _each(said, "sources", _source))
    volume = _inside(volume, "image", _image)
    return _inside(volume, "ephemeral", _ephemeral)


def _downward(source: Object) -> Object:
    return _each(source, "items", _value_from)


def _source(source: Object) -> Object:
    source = _inside(source, "downwardAPI", _downward)
    return _inside(
        source, "serviceAccountToken", lambda said: {"expirationSeconds": _HOUR_S, **said}
    )


def _image(image: Object) -> Object:
    return {"pullPolicy": pull_policy(image.get("reference", "")), **image}


def _ephemeral(source: Object) -> Object:
    def with_spec(template: Object) -> Object:
        return _inside(template, "spec", lambda said: {"volumeMode": "Filesystem", **said})

    return _inside(source, "volumeClaimTemplate", with_spec)
