"""Objects of built-in kinds but pods to ask a server about: new ones, and changes of those that are there."""

from typing import Any, NamedTuple

Object = dict[str, Any]


class New(NamedTuple):
    plural: str
    body: Object
    group: str = ""
    is_of_cluster: bool = False

    @property
    def path(self) -> str:
        root = f"/apis/{self.group}/v1" if self.group else "/api/v1"
        place = "" if self.is_of_cluster else "/namespaces/default"
        return f"{root}{place}/{self.plural}"


def named(name: str = "one", **more: Any) -> Object:
    return {"metadata": {"name": name, **more.pop("metadata", {})}, **more}


# Services


def service(name: str = "one", **spec: Any) -> New:
    return New("services", named(name, spec=spec))


WEB = [{"port": 80}]
SERVICES = {
    "a service": service(ports=WEB, selector={"a": "b"}),
    "a service with everything": service(
        ports=[
            {"name": "a", "port": 80, "targetPort": "web"},
            {"name": "b", "port": 53, "protocol": "UDP", "targetPort": 5353, "appProtocol": "x/y"},
        ],
        selector={"a": "b"},
        publishNotReadyAddresses=True,
    ),
    "a sticky service": service(ports=WEB, sessionAffinity="ClientIP"),
    "a headless service": service(ports=WEB, clusterIP="None", selector={"a": "b"}),
    "a headless service of nobody": service(clusterIP="None"),
    "a service elsewhere": service(type="ExternalName", externalName="a.example."),
    "a service on all nodes": service(type="NodePort", ports=WEB),
    "a service of the same zone": service(ports=WEB, trafficDistribution="PreferSameZone"),
    "a service of the same node": service(ports=WEB, trafficDistribution="PreferSameNode"),
    "a service of anywhere": service(ports=WEB, trafficDistribution="x"),
    "a balanced service for nobody": service(
        type="LoadBalancer",
        ports=WEB,
        loadBalancerSourceRanges=["x", "10.0.0.1", " 10.0.0.0/8 "],
        loadBalancerClass="a b",
    ),
    "a balanced service": service(type="LoadBalancer", ports=WEB),
    "a service from outside": service(ports=WEB, externalIPs=["192.0.2.1"]),
    "a service of one family": service(
        ports=WEB, ipFamilies=["IPv4"], ipFamilyPolicy="SingleStack"
    ),
    "no ports": service(),
    "wrong ports": service(
        ports=[{"port": 0}, {"port": 70000, "name": "A"}, {"port": 1, "protocol": "x", "name": "b"}]
    ),
    "twice the same port": service(
        ports=[{"port": 80, "name": "a"}, {"port": 80, "name": "b"}, {"port": 81, "name": "b"}]
    ),
    "wrong targets": service(
        ports=[
            {"port": 1, "name": "a", "targetPort": "A"},
            {"port": 2, "name": "b", "targetPort": -1},
        ]
    ),
    "a port of nodes": service(ports=[{"port": 80, "nodePort": 30001}]),
    "a port outside": service(type="NodePort", ports=[{"port": 80, "nodePort": 80}]),
    "a wrong type": service(ports=WEB, type="x"),
    "a wrong name of a service": service("1a", ports=WEB),
    "an address that is none": service(ports=WEB, clusterIP="x"),
    "an address elsewhere": service(ports=WEB, clusterIP="192.0.2.1"),
    "two that differ": service(ports=WEB, clusterIP="10.96.5.5", clusterIPs=["10.96.5.6"]),
    "a list for a target": service(ports=[{"port": 80, "targetPort": [1]}]),
    "null for a port": service(ports=[None]),
    "no name elsewhere": service(type="ExternalName"),
    "a wrong name elsewhere": service(type="ExternalName", externalName="A B"),
    "an address of one elsewhere": service(
        type="ExternalName", externalName="a", clusterIP="10.96.5.5"
    ),
    "wrong words of a service": service(
        ports=WEB,
        sessionAffinity="x",
        internalTrafficPolicy="y",
        externalTrafficPolicy="Local",
        selector={"a b": "c d"},
    ),
    "a wrong policy of families": service(ports=WEB, ipFamilyPolicy="z"),
    "wrong addresses from outside": service(ports=WEB, externalIPs=["x", "127.0.0.1"]),
    "a headless service on all nodes": service(type="NodePort", ports=WEB, clusterIP="None"),
}

# Endpoints


def slice_(**more: Any) -> New:
    return New("endpointslices", named(**more), "discovery.k8s.io")


ENDPOINTS = {
    "endpoints": New(
        "endpoints",
        named(subsets=[{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}]),
    ),
    "wrong endpoints": New(
        "endpoints",
        named(
            subsets=[
                {},
                {
                    "addresses": [{"ip": "x"}, {"ip": "127.0.0.1"}, {"ip": "169.254.0.1"}],
                    "ports": [{"port": 0}, {"port": 1, "name": "A", "protocol": "x"}],
                },
                {"notReadyAddresses": [{"ip": "10.0.0.1", "hostname": "A", "nodeName": "B"}]},
            ]
        ),
    ),
    "a slice": slice_(
        addressType="IPv4", endpoints=[{"addresses": ["10.0.0.1"]}], ports=[{"port": 80}]
    ),
    "no slice": slice_(endpoints=[]),
    "a wrong slice": slice_(
        addressType="IPv4",
        endpoints=[
            {"addresses": []},
            {"addresses": ["x"]},
            {"addresses": ["::1"]},
            {"addresses": ["127.0.0.1"], "nodeName": "A", "hostname": "B"},
        ],
        ports=[{"name": "A", "port": 1}, {"name": "b", "port": 2}, {"name": "b", "protocol": "x"}],
    ),
    "a slice of another type": slice_(addressType="x", endpoints=[]),
}

# Storage


def claim(**spec: Any) -> New:
    return New("persistentvolumeclaims", named(spec=spec))


def volume(**spec: Any) -> New:
    return New("persistentvolumes", named(spec=spec), is_of_cluster=True)


def storage_class(**more: Any) -> New:
    return New("storageclasses", named(**more), "storage.k8s.io", is_of_cluster=True)


ONCE = ["ReadWriteOnce"]
_A_VOLUME: Object = {"capacity": {"storage": "1Gi"}, "accessModes": ONCE}
GIB = {"requests": {"storage": "1024Mi"}}
STORAGE = {
    "a claim": claim(accessModes=ONCE, resources=GIB),
    "a claim of no class": claim(accessModes=ONCE, resources=GIB, storageClassName=""),
    "a block": claim(accessModes=ONCE, resources=GIB, volumeMode="Block"),
    "a copy": claim(
        accessModes=ONCE,
        resources=GIB,
        dataSource={"kind": "PersistentVolumeClaim", "name": "other"},
    ),
    "a copy by the newer field": claim(
        accessModes=ONCE,
        resources=GIB,
        dataSourceRef={"kind": "DataVolume", "name": "other", "apiGroup": "cdi.example"},
    ),
    "a claim of nothing": claim(),
    "a wrong claim": claim(
        accessModes=["x", "ReadWriteOncePod", "ReadWriteOnce"],
        resources={"requests": {"storage": "0"}},
        storageClassName="A",
        volumeMode="x",
        dataSource={"kind": "x"},
        selector={"matchExpressions": [{"key": "a", "operator": "x"}]},
    ),
    "a volume": volume(capacity={"storage": "1024Mi"}, accessModes=ONCE, hostPath={"path": "/x"}),
    "a claimed volume": volume(
        capacity={"storage": "1Gi"},
        accessModes=ONCE,
        nfs={"server": "s", "path": "/p"},
        claimRef={"namespace": "a", "name": "b"},
    ),
    "a volume of nothing": volume(),
    "a wrong volume": volume(
        capacity={"storage": "-1", "cpu": "1"},
        accessModes=["x"],
        persistentVolumeReclaimPolicy="x",
        volumeMode="y",
        storageClassName="A",
        hostPath={"path": "/x"},
        nfs={"server": "s", "path": "/p"},
    ),
    "a local volume anywhere": volume(
        capacity={"storage": "1Gi"}, accessModes=ONCE, local={"path": "/x"}
    ),
    "a folder of nothing": volume(**_A_VOLUME, hostPath={}),
    "a folder further up": volume(**_A_VOLUME, hostPath={"path": "/a/../b", "type": "x"}),
    "a recycled root": volume(
        **_A_VOLUME, hostPath={"path": "/./"}, persistentVolumeReclaimPolicy="Recycle"
    ),
    "an NFS of nothing": volume(**_A_VOLUME, nfs={}),
    "a driver of nothing": volume(**_A_VOLUME, csi={}),
    "a driver with a wrong name": volume(
        **_A_VOLUME,
        csi={"driver": "A_" * 40, "volumeHandle": "x", "nodePublishSecretRef": {"name": "x"}},
    ),
    "a local volume of nothing": volume(
        **_A_VOLUME,
        local={},
        nodeAffinity={
            "required": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
                ]
            }
        },
    ),
    "a volume of a node": volume(
        **_A_VOLUME,
        hostPath={"path": "/x"},
        nodeAffinity={
            "required": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
                ]
            }
        },
    ),
    "a class of some zones": storage_class(
        provisioner="a.example/b",
        allowedTopologies=[{"matchLabelExpressions": [{"key": "a", "values": ["b"]}]}],
    ),
    "a class of wrong zones": storage_class(
        provisioner="a.example/b",
        allowedTopologies=[
            {
                "matchLabelExpressions": [
                    {"key": "a b", "values": ["b", "b"]},
                    {"key": "a b", "values": []},
                ]
            },
            {"matchLabelExpressions": [{"key": "a", "values": ["b"]}]},
            {"matchLabelExpressions": [{"key": "a", "values": ["b"]}]},
        ],
    ),
    "a class": storage_class(provisioner="a.example/b"),
    "a wrong class": storage_class(provisioner="a b", reclaimPolicy="x", volumeBindingMode="y"),
    "a class of nobody": storage_class(),
    "a class with empty names": storage_class(provisioner="a", parameters={"": "x"}),
}

# The rest


def priority(name: str = "one", **more: Any) -> New:
    return New("priorityclasses", named(name, **more), "scheduling.k8s.io", is_of_cluster=True)


def budget(**spec: Any) -> New:
    return New("poddisruptionbudgets", named(spec=spec), "policy")


def lease(**spec: Any) -> New:
    return New("leases", named(spec=spec), "coordination.k8s.io")


def revision(**more: Any) -> New:
    return New("controllerrevisions", named(**more), "apps")


def node(spec: Any = None, **status: Any) -> New:
    return New("nodes", named(spec=spec or {}, status=status), is_of_cluster=True)


def secret(**more: Any) -> New:
    return New("secrets", named(**more))


OTHERS = {
    "a priority": priority(value=7),
    "a priority of nothing": priority(),
    "a priority too high": priority(value=1_000_000_001),
    "a system's priority": priority("system-x", value=7),
    "a system's own priority with another value": priority("system-node-critical", value=7),
    "a wrong preemption": priority(value=1, preemptionPolicy="x"),
    "a budget": budget(minAvailable=1, selector={"matchLabels": {"a": "b"}}),
    "a share": budget(maxUnavailable="30%"),
    "both shares": budget(minAvailable=1, maxUnavailable=1),
    "a wrong share": budget(minAvailable="x"),
    "a map for a share": budget(minAvailable={"a": 1}),
    "too large a share": budget(minAvailable="101%"),
    "a share below nothing": budget(maxUnavailable=-1),
    "a wrong policy of a budget": budget(minAvailable=1, unhealthyPodEvictionPolicy="x"),
    "a lease": lease(holderIdentity="me", leaseDurationSeconds=15, leaseTransitions=0),
    "a wrong lease": lease(leaseDurationSeconds=0, leaseTransitions=-1, preferredHolder="x"),
    "a revision": revision(revision=1, data={"a": 1}),
    "a revision of nothing": revision(revision=1),
    "a revision below nothing": revision(revision=-1, data={}),
    "a node with wrong addresses for pods": node({"podCIDRs": ["10.0.0.0"]}),
    "a node with addresses of one kind": node({"podCIDRs": ["10.0.0.0/24", "10.0.1.0/24"]}),
    "a node": node(capacity={"cpu": "2", "memory": "1024Mi"}),
    "a tainted node": node(
        {"taints": [{"key": "a", "effect": "NoSchedule"}], "unschedulable": True}
    ),
    "wrong taints": node(
        {
            "taints": [
                {"key": "a b", "effect": "x", "value": "c d"},
                {"key": "a"},
                {"key": "a", "effect": "NoSchedule"},
                {"key": "a", "effect": "NoSchedule", "value": "v"},
            ]
        }
    ),
    "a node of less than nothing": node(capacity={"cpu": "-1", "devices.example/kvm": "500m"}),
    "a secret": secret(stringData={"a": "b"}, data={"a": "eA==", "c": "eA=="}),
    "a secret of passwords": secret(type="kubernetes.io/basic-auth"),
    "a secret of an account": secret(type="kubernetes.io/service-account-token"),
    "a secret of a registry": secret(
        type="kubernetes.io/dockerconfigjson", stringData={".dockerconfigjson": "x"}
    ),
    "a secret of a registry without it": secret(type="kubernetes.io/dockercfg"),
    "a secret for SSH": secret(type="kubernetes.io/ssh-auth", data={"ssh-privatekey": ""}),
    "a secret for TLS": secret(type="kubernetes.io/tls", data={}),
    "an account": New("serviceaccounts", named(automountServiceAccountToken=False)),
    "wrong keys": New(
        "configmaps",
        named(data=dict.fromkeys(["", ".", "..", "..a", "a" * 254, "a/b", "good"], "x")),
    ),
    "a map": New("configmaps", named(data={}, binaryData={})),
}

NEW = {**SERVICES, **ENDPOINTS, **STORAGE, **OTHERS}


class Change(NamedTuple):
    of: New
    patch: Object


SERVED = SERVICES["a service"]
CHANGES = {
    "a volume of another node": Change(
        STORAGE["a volume of a node"],
        {
            "spec": {
                "nodeAffinity": {
                    "required": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["c"]}]}
                        ]
                    }
                }
            }
        },
    ),
    "a volume of any node": Change(STORAGE["a volume of a node"], {"spec": {"nodeAffinity": None}}),
    "another address": Change(SERVED, {"spec": {"clusterIP": "10.96.9.9"}}),
    "no address": Change(SERVED, {"spec": {"clusterIP": None, "clusterIPs": None}}),
    "another port": Change(SERVED, {"spec": {"ports": [{"port": 81}]}}),
    "headless": Change(SERVED, {"spec": {"clusterIP": "None", "clusterIPs": ["None"]}}),
    "elsewhere": Change(SERVED, {"spec": {"type": "ExternalName", "externalName": "a"}}),
    "on all nodes": Change(SERVED, {"spec": {"type": "NodePort"}}),
    "another size": Change(
        STORAGE["a claim"], {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    ),
    "a volume for a claim": Change(STORAGE["a claim"], {"spec": {"volumeName": "v"}}),
    "other modes of a claim": Change(
        STORAGE["a claim"], {"spec": {"accessModes": ["ReadOnlyMany"]}}
    ),
    "another source": Change(STORAGE["a volume"], {"spec": {"hostPath": {"path": "/y"}}}),
    "another mode of a volume": Change(STORAGE["a volume"], {"spec": {"volumeMode": "Block"}}),
    "another provisioner": Change(
        STORAGE["a class"],
        {"provisioner": "c", "parameters": {"a": "b"}, "reclaimPolicy": "Retain"},
    ),
    "another binding mode": Change(
        STORAGE["a class"], {"volumeBindingMode": "WaitForFirstConsumer"}
    ),
    "a class that grows": Change(STORAGE["a class"], {"allowVolumeExpansion": True}),
    "another value": Change(OTHERS["a priority"], {"value": 8, "preemptionPolicy": "Never"}),
    "other data": Change(OTHERS["a revision"], {"data": {"b": 2}}),
    "another revision": Change(OTHERS["a revision"], {"revision": 2}),
    "another address type": Change(ENDPOINTS["a slice"], {"addressType": "IPv6", "endpoints": []}),
    "another type of a secret": Change(OTHERS["a secret"], {"type": "a/b"}),
}
