"""Pods to ask a server about: what it fills in, and what it refuses."""

from typing import Any

Object = dict[str, Any]


def container(name: str = "main", image: str = "registry.example/tool:1", **more: Any) -> Object:
    return {"name": name, "image": image, **more}


def pod(*containers: Object, name: str = "one", annotations: Any = None, **spec: Any) -> Object:
    metadata: Object = {"name": name}
    if annotations:
        metadata["annotations"] = annotations
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": list(containers) or [container()], **spec},
    }


def with_container(**more: Any) -> Object:
    return pod(container(**more))


def with_volume(mounts: Any = None, **source: Any) -> Object:
    more = {"volumeMounts": mounts} if mounts else {}
    volumes = [{"name": "files", **source}]
    return pod(container(**more), volumes=volumes, automountServiceAccountToken=False)


def with_resources(limits: Any = None, requests: Any = None, **more: Any) -> Object:
    asked = {"limits": limits, "requests": requests}
    return with_container(resources={k: v for k, v in asked.items() if v} | more)


def with_variable(**variable: Any) -> Object:
    return with_container(env=[{"name": "A", **variable}])


def with_probe(name: str = "livenessProbe", **probe: Any) -> Object:
    return with_container(**{name: probe})


def spread(*constraints: Object) -> Object:
    return pod(topologySpreadConstraints=list(constraints))


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def near_nodes(*terms: Object) -> Object:
    return pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}})


def near_pods(*terms: Object, where: str = "podAntiAffinity") -> Object:
    return pod(affinity={where: {REQUIRED: list(terms)}})


GOOD_HTTP: Object = {"httpGet": {"port": 80}}
TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount"
MEMORY = {"memory": "1Gi"}
BOTH = {"cpu": "1", "memory": "1Gi"}

FILLED_IN: dict[str, Object] = {
    "the least": pod(),
    "empty fields": pod(
        container(env=[], args=[], stdin=False, workingDir="", volumeMounts=[], ports=[]),
        volumes=[],
        nodeSelector={},
        hostNetwork=False,
        hostname="",
        tolerations=[],
    ),
    "zeros behind pointers": pod(
        container(
            securityContext={"runAsUser": 0, "privileged": False, "readOnlyRootFilesystem": False}
        ),
        terminationGracePeriodSeconds=0,
        shareProcessNamespace=False,
        automountServiceAccountToken=False,
    ),
    "no tag": with_container(image="registry.example/tool"),
    "the latest": with_container(image="registry.example:5000/tool:latest"),
    "a port in the registry": with_container(image="registry.example:5000/tool"),
    "a digest": with_container(image="registry.example/tool@sha256:" + "0" * 64),
    "a tag and a digest": with_container(image="registry.example/tool:latest@sha256:" + "0" * 64),
    "a pull policy": with_container(imagePullPolicy="Never"),
    "ports": with_container(
        ports=[{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP", "name": "dns"}]
    ),
    "ports of the host": pod(container(ports=[{"containerPort": 80}]), hostNetwork=True),
    "an HTTP probe": with_probe(**GOOD_HTTP),
    "an exec probe": with_probe("readinessProbe", exec={"command": ["true"]}, periodSeconds=3),
    "a gRPC probe": with_probe("startupProbe", grpc={"port": 80}, failureThreshold=30),
    "a TCP probe": with_probe(tcpSocket={"port": "web"}, terminationGracePeriodSeconds=5),
    "lifecycle": with_container(
        lifecycle={"postStart": {"httpGet": {"port": "web"}}, "preStop": {"sleep": {"seconds": 3}}}
    ),
    "a field as a variable": with_variable(valueFrom={"fieldRef": {"fieldPath": "metadata.name"}}),
    "a label as a variable": with_variable(
        valueFrom={"fieldRef": {"fieldPath": "metadata.labels['a/b']"}}
    ),
    "a resource as a variable": with_variable(
        valueFrom={"resourceFieldRef": {"resource": "limits.cpu"}}
    ),
    "a resource with a divisor": with_variable(
        valueFrom={"resourceFieldRef": {"resource": "limits.memory", "divisor": "1024Ki"}}
    ),
    "a volume of nothing": with_volume(),
    "a secret": with_volume(secret={"secretName": "s"}),
    "a config map": with_volume(configMap={"name": "c", "items": [{"key": "a", "path": "b"}]}),
    "a mode of zero": with_volume(configMap={"name": "c", "defaultMode": 0}),
    "the downward API": with_volume(
        downwardAPI={"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.labels"}}]}
    ),
    "projected sources": with_volume(
        projected={
            "sources": [
                {"serviceAccountToken": {"path": "token"}},
                {"secret": {"name": "s"}},
                {
                    "downwardAPI": {
                        "items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.uid"}}]
                    }
                },
            ]
        }
    ),
    "a path of the host": with_volume(hostPath={"path": "/dev"}),
    "a typed path of the host": with_volume(hostPath={"path": "/dev", "type": "Directory"}),
    "an empty folder in memory": with_volume(
        emptyDir={"medium": "Memory", "sizeLimit": "1024Mi"},
        mounts=[{"name": "files", "mountPath": "/a", "readOnly": False}],
    ),
    "a claim": with_volume(persistentVolumeClaim={"claimName": "c"}),
    "an ephemeral claim": with_volume(
        ephemeral={
            "volumeClaimTemplate": {
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1024Mi"}},
                }
            }
        }
    ),
    "an image": with_volume(image={"reference": "registry.example/disk"}),
    "an image with a tag": with_volume(image={"reference": "registry.example/disk:1"}),
    "block devices": pod(
        container(volumeDevices=[{"name": "disk", "devicePath": "/dev/x"}]),
        volumes=[{"name": "disk", "persistentVolumeClaim": {"claimName": "c"}}],
    ),
    "limits only": with_resources(limits={"cpu": "0.5", "memory": "1024Mi"}),
    "requests only": with_resources(requests={"cpu": "100m"}),
    "limits and a request": with_resources(limits=BOTH, requests={"cpu": "250m"}),
    "numbers as quantities": with_resources(limits={"cpu": 2, "memory": 1048576}),
    "less than a thousandth": with_resources(limits={"cpu": "0.0001"}),
    "null for a quantity": with_resources(limits={"cpu": None}),
    "guaranteed": with_resources(limits=BOTH, requests=BOTH),
    "guaranteed by limits": with_resources(limits=BOTH),
    "burstable for want of a CPU": with_resources(limits=MEMORY, requests=MEMORY),
    "burstable because of an init container": pod(
        container(resources={"limits": BOTH}), initContainers=[container("first")]
    ),
    "guaranteed with a sidecar": pod(
        container(resources={"limits": BOTH}),
        initContainers=[
            container("beside", restartPolicy="Always", resources={"limits": BOTH}),
        ],
    ),
    "burstable because of one of two": pod(
        container(resources={"limits": BOTH}), container("other", resources={"limits": MEMORY})
    ),
    "best effort with devices": with_resources(limits={"devices.example/kvm": "1"}),
    "huge pages": with_resources(limits={"hugepages-2Mi": "4Mi", "memory": "1Gi", "cpu": "1"}),
    "resources of the pod": pod(resources={"limits": BOTH}),
    "resources of the pod and of containers": pod(
        container(resources={"requests": {"cpu": "100m"}}),
        container("b", resources={"requests": {"cpu": "200m"}}),
        initContainers=[container("first", resources={"requests": {"cpu": "600m"}})],
        resources={"limits": BOTH},
    ),
    "a runtime that costs": pod(
        container(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}])
    ),
    "an init container": pod(initContainers=[container("first")]),
    "a sidecar with a probe": pod(
        initContainers=[container("beside", restartPolicy="Always", readinessProbe=GOOD_HTTP)]
    ),
    "a security context": pod(
        container(securityContext={"capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True}),
        securityContext={
            "runAsUser": 107,
            "fsGroup": 107,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    ),
    "tolerations": pod(tolerations=[{"key": "a", "operator": "Exists"}]),
    "every toleration": pod(tolerations=[{"operator": "Exists"}]),
    "one default toleration": pod(
        tolerations=[
            {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 3}
            | {"effect": "NoExecute"}
        ]
    ),
    "a system's priority": pod(priorityClassName="system-node-critical"),
    "a cluster's priority": pod(
        priorityClassName="system-cluster-critical", preemptionPolicy="PreemptLowerPriority"
    ),
    "its own token mount": pod(
        container(volumeMounts=[{"name": "files", "mountPath": TOKEN}]),
        volumes=[{"name": "files", "emptyDir": {}}],
    ),
    "the account by its old name": pod(serviceAccount="default"),
    "gates": pod(
        readinessGates=[{"conditionType": "kubevirt.io/x"}], schedulingGates=[{"name": "a.b/c"}]
    ),
    "spreading": spread(
        {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"a": "b"}},
        }
    ),
    "names": pod(hostname="a", subdomain="b", setHostnameAsFQDN=True, nodeName="node01"),
    "addresses": pod(
        dnsPolicy="None",
        dnsConfig={"nameservers": ["10.0.0.1"], "searches": ["a.b."], "options": [{"name": "x"}]},
        hostAliases=[{"ip": "10.0.0.2", "hostnames": ["c"]}],
    ),
    "a restart policy of a container": with_container(restartPolicy="Always"),
    "another restart policy of an init container": pod(
        initContainers=[container("first", restartPolicy="Never")]
    ),
    "a signal without a system": with_container(lifecycle={"stopSignal": "SIGUSR1"}),
    "near nodes": near_nodes(
        {
            "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}],
            "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node01"]}],
        }
    ),
    "near pods": near_pods(
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "b"}}}
    ),
}

REFUSED: dict[str, Object] = {
    "null for a container": {**pod(), "spec": {"containers": [None]}},
    "null for what is in a list": pod(
        container(env=[None], ports=[None], volumeMounts=[None]), volumes=[None], tolerations=[None]
    ),
    "a list for a quantity": with_resources(limits={"cpu": []}),
    "a map for a port": with_probe(httpGet={"port": {}}),
    "a truth for a port": with_probe(httpGet={"port": True}),
    "a fraction for a port": with_probe(httpGet={"port": 1.5}),
    "a number too large": with_probe(httpGet={"port": 2**40}),
    "no containers": {**pod(), "spec": {"containers": []}},
    "no spec": {"metadata": {"name": "one"}},
    "no image": pod({"name": "main"}),
    "no name": pod({"image": "x"}),
    "a padded image": with_container(image=" x"),
    "a name in capitals": pod(container("Main")),
    "a name with dots": pod(container("a.b")),
    "a long name": pod(container("a" * 64)),
    "two of a name": pod(container("a"), container("a")),
    "an init container of the name": pod(initContainers=[container("main")]),
    "a wrong pull policy": with_container(imagePullPolicy="Sometimes"),
    "a wrong message policy": with_container(terminationMessagePolicy="x"),
    "probes of an init container": pod(
        initContainers=[
            container(
                "first",
                livenessProbe=GOOD_HTTP,
                lifecycle={"preStop": {"exec": {"command": ["x"]}}},
                startupProbe=GOOD_HTTP,
                readinessProbe=GOOD_HTTP,
            )
        ]
    ),
    "an ephemeral container": pod(ephemeralContainers=[container("look")]),
    "ports that are none": with_container(
        ports=[
            {"containerPort": 0},
            {"containerPort": 70000},
            {"containerPort": 1, "hostPort": -1},
            {"containerPort": 1, "protocol": "ICMP"},
        ]
    ),
    "names of ports": with_container(
        ports=[
            {"containerPort": 1, "name": "a" * 16},
            {"containerPort": 2, "name": "12"},
            {"containerPort": 3, "name": "a--b"},
            {"containerPort": 4, "name": "-a"},
            {"containerPort": 5, "name": "A"},
            {"containerPort": 6, "name": "x"},
            {"containerPort": 7, "name": "x"},
        ]
    ),
    "one port of the host for two": pod(
        container(ports=[{"containerPort": 1, "hostPort": 80}]),
        container("b", ports=[{"containerPort": 2, "hostPort": 80}]),
    ),
    "another port on the host's network": pod(
        container(ports=[{"containerPort": 1, "hostPort": 80}]), hostNetwork=True
    ),
    "variables without names": with_container(env=[{"value": "x"}, {"name": "a=b"}, {"name": "é"}]),
    "a variable from nowhere": with_variable(valueFrom={}),
    "a variable from two places": with_variable(
        valueFrom={
            "fieldRef": {"fieldPath": "metadata.name"},
            "secretKeyRef": {"name": "s", "key": "k"},
        }
    ),
    "a variable with a value and a place": with_variable(
        value="x", valueFrom={"fieldRef": {"fieldPath": "metadata.name"}}
    ),
    "fields that are no variables": with_container(
        env=[
            {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": path}}}
            for path in (
                "",
                "metadata.x",
                "metadata.labels",
                "spec.restartPolicy",
                "metadata.name['a']",
                "metadata.labels['-']",
            )
        ]
    ),
    "a field of another version": with_variable(
        valueFrom={"fieldRef": {"apiVersion": "v2", "fieldPath": "metadata.name"}}
    ),
    "resources that are no variables": with_container(
        env=[
            {"name": "A", "valueFrom": {"resourceFieldRef": said}}
            for said in (
                {"resource": ""},
                {"resource": "limits.x"},
                {"resource": "limits.cpu", "divisor": "1k"},
                {"resource": "limits.memory", "divisor": "2"},
            )
        ]
    ),
    "keys that are none": with_container(
        env=[
            {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "A", "key": ""}}},
            {"name": "B", "valueFrom": {"secretKeyRef": {"name": "a", "key": "a/b"}}},
        ]
    ),
    "sources of all variables": with_container(
        envFrom=[
            {},
            {"configMapRef": {}, "secretRef": {"name": "A"}},
            {"prefix": "a=", "configMapRef": {"name": "x"}},
        ]
    ),
    "volumes without names": pod(
        volumes=[{"emptyDir": {}}, {"name": "A", "emptyDir": {}}, {"name": "a.b", "emptyDir": {}}]
    ),
    "two volumes of a name": pod(
        volumes=[{"name": "a", "emptyDir": {}}, {"name": "a", "emptyDir": {}}]
    ),
    "a volume of two kinds": with_volume(emptyDir={}, hostPath={"path": "/x"}),
    "volumes that miss something": pod(
        volumes=[
            {"name": "a", "secret": {}},
            {"name": "b", "configMap": {}},
            {"name": "c", "persistentVolumeClaim": {"claimName": ""}},
            {"name": "d", "hostPath": {"path": ""}},
            {"name": "e", "image": {}},
            {"name": "f", "ephemeral": {}},
            {"name": "g", "nfs": {"server": "", "path": "x"}},
        ]
    ),
    "paths of the host": pod(
        volumes=[
            {"name": "a", "hostPath": {"path": "/a/../b"}},
            {"name": "b", "hostPath": {"path": "/a", "type": "x"}},
        ]
    ),
    "modes of files": pod(
        volumes=[
            {"name": "a", "secret": {"secretName": "a", "defaultMode": 1000}},
            {"name": "b", "configMap": {"name": "b", "defaultMode": -1}},
            {"name": "c", "projected": {"sources": [], "defaultMode": 512}},
        ]
    ),
    "keys to paths": with_volume(
        secret={
            "secretName": "a",
            "items": [
                {"key": "", "path": ""},
                {"key": "a", "path": "/a"},
                {"key": "a", "path": "../a"},
                {"key": "a", "path": "..a"},
                {"key": "a", "path": "b", "mode": 1000},
            ],
        }
    ),
    "projections": with_volume(
        projected={
            "sources": [
                {"serviceAccountToken": {"path": "", "expirationSeconds": 1}},
                {"secret": {"name": "", "items": [{"key": "a", "path": "x"}]}},
                {"configMap": {"name": "c", "items": [{"key": "a", "path": "x"}]}},
                {"secret": {"name": "a"}, "configMap": {"name": "a"}},
            ]
        }
    ),
    "the downward API's files": with_volume(
        downwardAPI={
            "items": [
                {"path": "", "fieldRef": {"fieldPath": "metadata.name"}},
                {"path": "a"},
                {"path": "b", "fieldRef": {"fieldPath": "status.podIP"}},
                {"path": "c", "resourceFieldRef": {"resource": "limits.cpu"}},
            ]
        }
    ),
    "a negative size": with_volume(emptyDir={"sizeLimit": "-1"}),
    "a mount of nothing": with_container(volumeMounts=[{"name": "no", "mountPath": "/a"}]),
    "mounts without paths": with_volume(
        emptyDir={},
        mounts=[
            {"name": "", "mountPath": ""},
            {"name": "files", "mountPath": "/a"},
            {"name": "files", "mountPath": "/a"},
            {"name": "files", "mountPath": "/b", "subPath": "../c"},
            {"name": "files", "mountPath": "/c", "subPath": "a", "subPathExpr": "/b"},
        ],
    ),
    "mounts that spread": with_volume(
        emptyDir={},
        mounts=[
            {"name": "files", "mountPath": "/a", "mountPropagation": "Bidirectional"},
            {"name": "files", "mountPath": "/b", "mountPropagation": "x"},
            {"name": "files", "mountPath": "/c", "recursiveReadOnly": "Enabled"},
            {"name": "files", "mountPath": "/d", "recursiveReadOnly": "x"},
        ],
    ),
    "devices that are none": pod(
        container(
            volumeDevices=[
                {"name": "files", "devicePath": "/dev/a"},
                {"name": "no", "devicePath": "/dev/a"},
                {"name": "", "devicePath": ""},
                {"name": "disk", "devicePath": "/a/../b"},
                {"name": "disk", "devicePath": "/c"},
            ]
        ),
        volumes=[
            {"name": "files", "emptyDir": {}},
            {"name": "disk", "persistentVolumeClaim": {"claimName": "c"}},
        ],
    ),
    "a device and a mount at one place": pod(
        container(
            volumeDevices=[{"name": "disk", "devicePath": "/a"}],
            volumeMounts=[{"name": "disk", "mountPath": "/a"}],
        ),
        volumes=[{"name": "disk", "persistentVolumeClaim": {"claimName": "c"}}],
    ),
    "more than the limit": with_resources(limits={"cpu": "1"}, requests={"cpu": "2"}),
    "less than nothing": with_resources(limits={"cpu": "-1", "memory": "-1Gi"}),
    "no quantity": with_resources(limits={"cpu": "x"}),
    "no number": with_resources(limits={"cpu": "1.1.1"}),
    "devices without a limit": with_resources(requests={"devices.example/kvm": "1"}),
    "more devices than asked for": with_resources(
        limits={"devices.example/kvm": "2"}, requests={"devices.example/kvm": "1"}
    ),
    "half a device": with_resources(limits={"devices.example/kvm": "500m"}),
    "resources that nobody knows": with_resources(
        limits={"x": "1", "pods": "1", "a/b/c": "1", "requests.x.example/y": "1"}
    ),
    "huge pages alone": with_resources(limits={"hugepages-2Mi": "2Mi"}),
    "a part of a huge page": with_resources(limits={"hugepages-2Mi": "3Mi", "cpu": "1"}),
    "a claim that is none": with_resources(claims=[{"name": "x"}, {"name": ""}]),
    "resizing": pod(
        container(
            resizePolicy=[
                {"resourceName": "cpu", "restartPolicy": "x"},
                {"resourceName": "cpu", "restartPolicy": "RestartContainer"},
                {"resourceName": "disk", "restartPolicy": ""},
            ]
        ),
        restartPolicy="Never",
    ),
    "resources of the pod that are none": pod(
        resources={"limits": {"devices.example/kvm": "1", "cpu": "1"}, "requests": {"cpu": "2"}}
    ),
    "resources of the pod that are too small": pod(
        container(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "3"}}),
        resources={"requests": {"cpu": "1"}, "limits": {"cpu": "2"}},
    ),
    "a probe without a way": with_probe(),
    "a probe with two": with_probe(**GOOD_HTTP, exec={"command": ["x"]}),
    "probes of wrong numbers": with_probe(
        **GOOD_HTTP,
        initialDelaySeconds=-1,
        timeoutSeconds=-1,
        successThreshold=2,
        failureThreshold=-3,
        terminationGracePeriodSeconds=0,
    ),
    "a readiness probe with grace": with_probe(
        "readinessProbe", **GOOD_HTTP, terminationGracePeriodSeconds=3
    ),
    "probes of wrong ports": pod(
        container(livenessProbe={"httpGet": {"port": 0, "scheme": "FTP"}}),
        container("b", livenessProbe={"tcpSocket": {"port": "A"}}),
        container("c", livenessProbe={"exec": {}}),
        container("d", livenessProbe={"grpc": {"port": 70000}}),
        container(
            "e",
            livenessProbe={"httpGet": {"port": 1, "httpHeaders": [{"name": "a b", "value": ""}]}},
        ),
    ),
    "lifecycle without a way": with_container(
        lifecycle={"postStart": {}, "preStop": {"sleep": {"seconds": 60}}}
    ),
    "wrong words": pod(
        restartPolicy="x", dnsPolicy="y", preemptionPolicy="z", os={"name": "plan9"}
    ),
    "wrong names": pod(
        hostname="A", subdomain="b.c", nodeName="D", serviceAccountName="default", hostAliases=[{}]
    ),
    "a deadline of nothing": pod(activeDeadlineSeconds=0),
    "a deadline too far": pod(activeDeadlineSeconds=2**31),
    "a wrong node selector": pod(nodeSelector={"a b": "c", "d": "e f"}),
    "tolerations": pod(
        tolerations=[
            {},
            {"key": "a", "operator": "x"},
            {"key": "a b", "operator": "Exists", "value": "v"},
            {"key": "a", "tolerationSeconds": 3},
            {"key": "a", "effect": "x", "value": "a b"},
        ]
    ),
    "no node terms": near_nodes(),
    "wrong node terms": near_nodes(
        {
            "matchExpressions": [
                {"key": "a b", "operator": "In"},
                {"key": "a", "operator": "Exists", "values": ["b"]},
                {"key": "a", "operator": "Gt", "values": ["1", "2"]},
                {"key": "a", "operator": "x"},
                {"key": "a", "operator": "In", "values": ["a b"]},
            ],
            "matchFields": [
                {"key": "metadata.uid", "operator": "In", "values": ["a"]},
                {"key": "metadata.name", "operator": "Exists"},
                {"key": "metadata.name", "operator": "In", "values": ["a", "B"]},
            ],
        }
    ),
    "wrong preferences": pod(
        affinity={
            "nodeAffinity": {PREFERRED: [{"weight": 0, "preference": {}}]},
            "podAffinity": {PREFERRED: [{"weight": 101, "podAffinityTerm": {"topologyKey": "a"}}]},
        }
    ),
    "wrong pod terms": near_pods(
        {"topologyKey": ""},
        {"topologyKey": "a b", "namespaces": ["A"]},
        {
            "topologyKey": "a",
            "labelSelector": {
                "matchLabels": {"a b": "c d"},
                "matchExpressions": [{"key": "a", "operator": "x"}, {"key": "", "operator": "In"}],
            },
        },
        {"topologyKey": "a", "matchLabelKeys": ["x"]},
    ),
    "wrong spreading": spread(
        {"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "x"},
        {
            "maxSkew": 1,
            "topologyKey": "a",
            "whenUnsatisfiable": "ScheduleAnyway",
            "minDomains": 0,
            "nodeAffinityPolicy": "x",
            "matchLabelKeys": ["a"],
        },
        {"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "ScheduleAnyway"},
    ),
    "wrong gates": pod(
        readinessGates=[{"conditionType": "a b"}],
        schedulingGates=[{"name": "a b"}, {"name": "c"}, {"name": "c"}],
        nodeName="node01",
    ),
    "wrong numbers of people": pod(
        container(securityContext={"runAsUser": -1, "runAsGroup": 2**31}),
        securityContext={
            "runAsUser": -1,
            "runAsGroup": -2,
            "fsGroup": 2**31,
            "supplementalGroups": [1, -1],
        },
    ),
    "wrong profiles": pod(
        container(
            securityContext={
                "seccompProfile": {"type": "Localhost"},
                "appArmorProfile": {"type": "x"},
                "procMount": "Unmasked",
            }
        ),
        container(
            "b", securityContext={"procMount": "x", "appArmorProfile": {"type": "Localhost"}}
        ),
        securityContext={
            "seccompProfile": {"type": "RuntimeDefault", "localhostProfile": "x"},
            "fsGroupChangePolicy": "x",
            "supplementalGroupsPolicy": "y",
        },
    ),
    "privileged without escalation": with_container(
        securityContext={"privileged": True, "allowPrivilegeEscalation": False}
    ),
    "an administrator without escalation": with_container(
        securityContext={
            "allowPrivilegeEscalation": False,
            "capabilities": {"add": ["CAP_SYS_ADMIN"]},
        }
    ),
    "wrong settings of the kernel": pod(
        securityContext={
            "sysctls": [
                {"name": "", "value": "1"},
                {"name": "A", "value": "1"},
                {"name": "net.a", "value": "1"},
                {"name": "kernel.shm_rmid_forced", "value": "1"},
                {"name": "kernel.shm_rmid_forced", "value": "1"},
            ]
        },
        hostNetwork=True,
        hostIPC=True,
    ),
    "processes of two kinds": pod(hostPID=True, shareProcessNamespace=True),
    "users of its own on the host": pod(
        hostUsers=False, hostNetwork=True, hostPID=True, hostIPC=True
    ),
    "no name servers": pod(dnsPolicy="None"),
    "an empty DNS": pod(dnsPolicy="None", dnsConfig={}),
    "wrong name servers": pod(
        dnsConfig={"nameservers": ["a", "1.1.1.1", "1.1.1.2", "1.1.1.3"], "options": [{}]}
    ),
    "wrong aliases": pod(hostAliases=[{"ip": "x", "hostnames": ["A"]}]),
    "a wrong overhead": pod(overhead={"cpu": "1"}),
    "a runtime that is not there": pod(runtimeClassName="tiny"),
    "an account that is not there": pod(serviceAccountName="nobody"),
    "a priority that is not there": pod(priorityClassName="nothing"),
    "a priority of one's own": pod(priority=7),
    "a preemption of one's own": pod(preemptionPolicy="Never"),
    "a mirror nowhere": pod(annotations={"kubernetes.io/config.mirror": "x"}),
    "a wrong cost": pod(annotations={"controller.kubernetes.io/pod-deletion-cost": "x"}),
}
