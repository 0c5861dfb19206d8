"""Objects as `kubectl get` shows them: with a status, since that is what people look at."""

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from tests.contract.pod_cases import container, pod

Object = dict[str, Any]


def ago(**past: float) -> str:
    return (datetime.now(UTC) - timedelta(**past)).strftime("%Y-%m-%dT%H:%M:%SZ")


EARLIER = ago(hours=100, minutes=20)
"""4d4h, and that for a while."""


class Shown(NamedTuple):
    plural: str
    object: Object
    status: Object | None = None
    group: str = ""
    is_of_cluster: bool = False


def named(name: str = "one", **more: Any) -> Object:
    return {"metadata": {"name": name, **more.pop("metadata", {})}, **more}


# Pods

RUNNING = {"running": {"startedAt": EARLIER}}


def ended(code: int = 0, **more: Any) -> Object:
    return {"terminated": {"exitCode": code, "finishedAt": EARLIER, "startedAt": EARLIER, **more}}


def waiting(reason: str = "") -> Object:
    return {"waiting": {"reason": reason} if reason else {}}


def state(name: str = "main", now: Any = None, **more: Any) -> Object:
    return {
        "name": name,
        "state": RUNNING if now is None else now,
        "ready": True,
        "restartCount": 0,
        "image": "",
        "imageID": "",
        **more,
    }


def a_pod(phase: str = "Running", *states: Object, spec: Any = None, **status: Any) -> Shown:
    made = pod(**(spec or {}))
    return Shown("pods", made, {"phase": phase, "containerStatuses": list(states), **status})


TWO = {"initContainers": [container("first"), container("second")]}
SIDECAR = {"initContainers": [container("beside", restartPolicy="Always"), container("first")]}
READY = {"type": "Ready", "status": "True"}

PODS = {
    "pending": Shown("pods", pod()),
    "running": a_pod("Running", state(), podIP="10.0.0.1", podIPs=[{"ip": "10.0.0.1"}]),
    "not ready": a_pod("Running", state(ready=False)),
    "creating": a_pod("Pending", state(now=waiting("ContainerCreating"), ready=False)),
    "crashing": a_pod(
        "Running",
        state(
            now=waiting("CrashLoopBackOff"),
            ready=False,
            restartCount=3,
            lastState=ended(1),
        ),
    ),
    "restarted": a_pod("Running", state(restartCount=1, lastState=ended(1))),
    "restarted with no past": a_pod("Running", state(restartCount=2)),
    "completed": a_pod("Succeeded", state(now=ended(reason="Completed"), ready=False)),
    "failed": a_pod("Failed", state(now=ended(1, reason="Error"), ready=False)),
    "failed without a reason": a_pod("Failed", state(now=ended(3), ready=False)),
    "killed": a_pod("Failed", state(now=ended(137, signal=9), ready=False)),
    "evicted": a_pod("Failed", reason="Evicted", message="x"),
    "one of two": Shown(
        "pods",
        pod(container(), container("other")),
        {
            "phase": "Running",
            "containerStatuses": [state(), state("other", ended(reason="Completed"), ready=False)],
        },
    ),
    "one of two and ready": Shown(
        "pods",
        pod(container(), container("other")),
        {
            "phase": "Running",
            "conditions": [READY],
            "containerStatuses": [
                state("main", ended(reason="Completed"), ready=False),
                state("other"),
            ],
        },
    ),
    "initializing": a_pod(
        "Pending",
        state(now=waiting("PodInitializing"), ready=False),
        spec=TWO,
        initContainerStatuses=[
            state("first", ended(reason="Completed")),
            state("second", RUNNING, ready=False),
        ],
    ),
    "not initializing": a_pod(
        "Pending",
        spec=TWO,
        initContainerStatuses=[
            state("first", waiting("PodInitializing"), ready=False),
            state("second", waiting("PodInitializing"), ready=False),
        ],
    ),
    "crashing at first": a_pod(
        "Pending",
        spec=TWO,
        initContainerStatuses=[
            state(
                "first",
                waiting("CrashLoopBackOff"),
                ready=False,
                restartCount=4,
                lastState=ended(1),
            ),
            state("second", waiting("PodInitializing"), ready=False),
        ],
    ),
    "failed at first": a_pod(
        "Failed",
        spec=TWO,
        initContainerStatuses=[state("first", ended(1, reason="Error"), ready=False)],
    ),
    "failed at first by a signal": a_pod(
        "Failed",
        spec=TWO,
        initContainerStatuses=[state("first", ended(1, signal=9), ready=False)],
    ),
    "failed at first without a reason": a_pod(
        "Failed", spec=TWO, initContainerStatuses=[state("first", ended(5), ready=False)]
    ),
    "initialized": a_pod(
        "Running",
        state(),
        spec=TWO,
        conditions=[{"type": "Initialized", "status": "True"}],
        initContainerStatuses=[
            state("first", ended(reason="Completed")),
            state("second", ended(reason="Completed")),
        ],
    ),
    "beside": a_pod(
        "Running",
        state(),
        spec=SIDECAR,
        conditions=[{"type": "Initialized", "status": "True"}],
        initContainerStatuses=[
            state("beside", started=True, restartCount=2, lastState=ended(1)),
            state("first", ended(reason="Completed")),
        ],
    ),
    "beside and initializing": a_pod(
        "Pending",
        spec=SIDECAR,
        initContainerStatuses=[state("beside", started=True), state("first", RUNNING, ready=False)],
    ),
    "held back": Shown("pods", pod(schedulingGates=[{"name": "a/b"}])),
    "gates of readiness": a_pod(
        "Running",
        state(),
        spec={"readinessGates": [{"conditionType": "a/b"}, {"conditionType": "c/d"}]},
        conditions=[{"type": "a/b", "status": "True"}],
    ),
    "nominated": Shown("pods", pod(), {"nominatedNodeName": "node01"}),
    "placed": Shown("pods", pod(nodeName="node01")),
}

# Nodes

INFO = {
    "kubeletVersion": "v1.34.0",
    "osImage": "Debian",
    "kernelVersion": "6.1",
    "containerRuntimeVersion": "bubblewrap://0.8",
    "architecture": "amd64",
    "bootID": "",
    "kubeProxyVersion": "",
    "machineID": "",
    "operatingSystem": "linux",
    "systemUUID": "",
}


def node(labels: Any = None, spec: Any = None, **status: Any) -> Shown:
    made = named("NAME", metadata={"labels": labels or {}}, spec=spec or {}, status=status)
    return Shown("nodes", made, is_of_cluster=True)


def ready(word: str) -> Object:
    return {"conditions": [{"type": "Ready", "status": word}]}


NODES = {
    "a bare node": node(),
    "a ready node": node(
        {"node-role.kubernetes.io/control-plane": "", "kubernetes.io/role": "worker"},
        nodeInfo=INFO,
        addresses=[
            {"type": "InternalIP", "address": "10.0.0.1"},
            {"type": "Hostname", "address": "node01"},
            {"type": "ExternalIP", "address": "192.0.2.1"},
        ],
        **ready("True"),
    ),
    "a node that is not ready": node(**ready("False")),
    "a node of which nobody knows": node(**ready("Unknown")),
    "a cordoned node": node(spec={"unschedulable": True}, **ready("True")),
}

# What is stored

CLAIM = {
    "accessModes": ["ReadWriteOnce", "ReadWriteMany"],
    "resources": {"requests": {"storage": "1Gi"}},
    "storageClassName": "none",
}
VOLUME = {
    "capacity": {"storage": "10Gi"},
    "accessModes": ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"],
    "hostPath": {"path": "/x"},
    "persistentVolumeReclaimPolicy": "Delete",
}
STORED = {
    "a claim": Shown("persistentvolumeclaims", named(spec=CLAIM)),
    "a bound claim": Shown(
        "persistentvolumeclaims",
        named(spec={**CLAIM, "volumeName": "v", "volumeMode": "Block"}),
        {"phase": "Bound", "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"]},
    ),
    "a volume": Shown(
        "persistentvolumes", named("NAME", spec=VOLUME), {"phase": "Available"}, is_of_cluster=True
    ),
    "a claimed volume": Shown(
        "persistentvolumes",
        named(
            "NAME",
            spec={
                **VOLUME,
                "claimRef": {"namespace": "a", "name": "b", "uid": "x"},
                "storageClassName": "c",
            },
        ),
        {"phase": "Failed", "reason": "Broken", "message": "x"},
        is_of_cluster=True,
    ),
    "a class": Shown(
        "storageclasses",
        named("NAME", provisioner="p.example"),
        group="storage.k8s.io",
        is_of_cluster=True,
    ),
    "a class that grows": Shown(
        "storageclasses",
        named(
            "NAME",
            provisioner="p.example",
            allowVolumeExpansion=True,
            volumeBindingMode="WaitForFirstConsumer",
            reclaimPolicy="Retain",
        ),
        group="storage.k8s.io",
        is_of_cluster=True,
    ),
}

# The rest

PORTS = [{"name": "a", "port": 80}, {"name": "b", "port": 53, "protocol": "UDP"}]
OTHERS = {
    "a headless service": Shown(
        "services",
        named(spec={"clusterIP": "None", "ports": PORTS, "selector": {"b": "c", "a": "d"}}),
    ),
    "a service elsewhere": Shown(
        "services", named(spec={"type": "ExternalName", "externalName": "a.example"})
    ),
    "endpoints": Shown(
        "endpoints",
        named(
            subsets=[
                {
                    "addresses": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}],
                    "ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}],
                }
            ]
        ),
    ),
    "no endpoints": Shown("endpoints", named(subsets=[])),
    "a slice": Shown(
        "endpointslices",
        named(
            addressType="IPv4",
            endpoints=[{"addresses": [f"10.0.0.{each}"]} for each in range(1, 6)],
            ports=[{"name": each, "port": 80, "protocol": "TCP"} for each in "abcd"],
        ),
        group="discovery.k8s.io",
    ),
    "an empty slice": Shown(
        "endpointslices", named(addressType="IPv4", endpoints=[]), group="discovery.k8s.io"
    ),
    "a budget": Shown(
        "poddisruptionbudgets",
        named(spec={"maxUnavailable": "50%", "selector": {"matchLabels": {"no": "body"}}}),
        group="policy",
    ),
    "a priority": Shown(
        "priorityclasses",
        named("NAME", value=7, preemptionPolicy="Never", description="x"),
        group="scheduling.k8s.io",
        is_of_cluster=True,
    ),
    "a lease": Shown("leases", named(spec={}), group="coordination.k8s.io"),
    "a secret": Shown("secrets", named(type="a/b", stringData={"a": "b", "c": "d"})),
    "an account": Shown("serviceaccounts", named(secrets=[{"name": "a"}])),
    "a revision": Shown("controllerrevisions", named(revision=2, data={"a": 1}), group="apps"),
    "a binding of roles": Shown(
        "rolebindings",
        named(
            roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "x"},
            subjects=[
                {"kind": "Group", "name": "g", "apiGroup": "rbac.authorization.k8s.io"},
                {"kind": "Group", "name": "h", "apiGroup": "rbac.authorization.k8s.io"},
            ],
        ),
        group="rbac.authorization.k8s.io",
    ),
    "a webhook": Shown(
        "validatingwebhookconfigurations",
        named("NAME", webhooks=[]),
        group="admissionregistration.k8s.io",
        is_of_cluster=True,
    ),
}


def event(**more: Any) -> Shown:
    about = {"kind": "Pod", "name": "web", "namespace": "NAMESPACE"}
    said = {
        "involvedObject": about,
        "reason": "Because",
        "message": " it is so \n",
        "type": "Normal",
    }
    return Shown("events", named(**{**said, **more}))


EVENTS = {
    "an event": event(firstTimestamp=EARLIER, lastTimestamp=EARLIER, count=3),
    "an event of one": event(
        source={"component": "me", "host": "node01"},
        involvedObject={
            "kind": "Pod",
            "name": "web",
            "namespace": "NAMESPACE",
            "fieldPath": "spec.containers{main}",
        },
        firstTimestamp=EARLIER,
        lastTimestamp=EARLIER,
    ),
    "a new event": event(
        eventTime=EARLIER.replace("Z", ".000000Z"),
        reportingComponent="me",
        reportingInstance="node01",
        action="Do",
    ),
    "a series of events": event(
        eventTime=EARLIER.replace("Z", ".000000Z"),
        series={"count": 5, "lastObservedTime": EARLIER.replace("Z", ".000000Z")},
        reportingComponent="me",
        reportingInstance="node01",
        action="Do",
    ),
    "an event without times": event(),
}

SHOWN = {**PODS, **NODES, **STORED, **OTHERS, **EVENTS}
