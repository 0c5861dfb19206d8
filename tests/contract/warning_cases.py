"""Objects that are taken with a warning, or with several."""

import base64
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from tests.contract.definition_cases import a_crd, a_version

Json = dict[str, Any]


class Case(NamedTuple):
    path: str
    body: Json


def _in_default(plural: str, **body: Any) -> Case:
    return Case(f"/api/v1/namespaces/default/{plural}", {"metadata": {"name": "one"}, **body})


def _of_cluster(path: str, **body: Any) -> Case:
    return Case(path, {"metadata": {"name": "one"}, **body})


def _pod(name: str = "one", annotations: Json | None = None, **spec: Any) -> Case:
    containers = [{"name": "a", "image": "a", **spec.pop("container", {})}]
    metadata = {"name": name, "annotations": annotations or {}}
    return _in_default("pods", metadata=metadata, spec={"containers": containers, **spec})


def _projected(*sources: Json) -> Case:
    return _pod(volumes=[{"name": "v", "projected": {"sources": list(sources)}}])


def _affinity(**said: Any) -> Case:
    return _pod(affinity=said)


_KEY = ec.generate_private_key(ec.SECP256R1())


def _pem(key: ec.EllipticCurvePrivateKey) -> str:
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return base64.b64encode(text).decode()


def _certificate() -> str:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "one")])
    day = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, _KEY.public_key(), x509.random_serial_number())
        .not_valid_before(day)
        .not_valid_after(day + timedelta(days=1))
        .sign(_KEY, hashes.SHA256())
    )
    return base64.b64encode(made.public_bytes(Encoding.PEM)).decode()


def _tls(certificate: str, key: str) -> Case:
    data = {"tls.crt": certificate, "tls.key": key}
    return _in_default("secrets", type="kubernetes.io/tls", data=data)


_ITEMS = [{"key": "a", "path": "x"}, {"key": "b", "path": "x/y"}, {"key": "c", "path": "z"}]
_OLD = "failure-domain.beta.kubernetes.io/zone"
_OLD_TERM = {"matchExpressions": [{"key": _OLD, "operator": "In", "values": ["a"]}]}
_GOOD_TERM = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["a b", "c"]}]}
_HOST = "kubernetes.io/hostname"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_VOLUMES = "/api/v1/persistentvolumes"
_VOLUME = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}
_CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1500m"}}}
_HEX = {"type": "object", "properties": {"a": {"type": "string", "format": "colour"}}}

CASES: dict[str, Case] = {
    "nothing": _pod(),
    "a pod with a dot": _pod("one.two"),
    "labels of old": _pod(nodeSelector={_OLD: "a"}),
    "terms of old": _affinity(nodeAffinity={_REQUIRED: {"nodeSelectorTerms": [_OLD_TERM]}}),
    "preferences of old": _affinity(
        nodeAffinity={_PREFERRED: [{"weight": 1, "preference": _GOOD_TERM}]}
    ),
    "neighbours of nobody": _affinity(
        podAffinity={_REQUIRED: [{"topologyKey": _HOST}]},
        podAntiAffinity={_PREFERRED: [{"weight": 1, "podAffinityTerm": {"topologyKey": _HOST}}]},
    ),
    "spread by a label of old": _pod(
        topologySpreadConstraints=[
            {"maxSkew": 1, "topologyKey": _OLD, "whenUnsatisfiable": "DoNotSchedule"}
        ]
    ),
    "annotations of old": _pod(
        annotations={
            "scheduler.alpha.kubernetes.io/critical-pod": "",
            "seccomp.security.alpha.kubernetes.io/pod": "runtime/default",
            "container.seccomp.security.alpha.kubernetes.io/a": "runtime/default",
        }
    ),
    "volumes that are no more": _pod(
        volumes=[
            {"name": "a", "gitRepo": {"repository": "x"}},
            {"name": "b", "glusterfs": {"endpoints": "x", "path": "y"}},
            {"name": "c", "rbd": {"monitors": ["x"], "image": "y"}},
        ]
    ),
    "a claim of its own with half a byte": _pod(
        volumes=[{"name": "a", "ephemeral": {"volumeClaimTemplate": {"spec": _CLAIM}}}]
    ),
    "files in one another": _pod(
        volumes=[
            {"name": "a", "configMap": {"name": "x", "items": _ITEMS}},
            {"name": "b", "secret": {"secretName": "x", "items": _ITEMS}},
        ]
    ),
    "projected files in one another": _projected(
        {"configMap": {"name": "x", "items": _ITEMS[:1]}},
        {"secret": {"name": "x", "items": _ITEMS[1:]}},
        {"serviceAccountToken": {"path": "z"}},
    ),
    "the same twice": _pod(
        hostAliases=[{"ip": "1.2.3.4", "hostnames": ["a"]}, {"ip": "1.2.3.4", "hostnames": ["b"]}],
        imagePullSecrets=[{"name": "a"}, {"name": "a"}],
    ),
    "a secret without a name": _pod(imagePullSecrets=[{"name": ""}]),
    "half a byte": _pod(
        container={"resources": {"limits": {"memory": "1.5"}, "requests": {"memory": "500m"}}}
    ),
    "variables that hide others": _pod(
        container={
            "env": [
                {"name": "A", "value": "1"},
                {"name": "A", "value": "$(A)2"},
                {"name": "A", "value": "$(A)"},
                {"name": "A", "value": "3"},
                {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            ]
        }
    ),
    "ports that meet": _pod(
        containers=[
            {"name": "a", "image": "a", "ports": [{"containerPort": 80, "name": "web"}]},
            {"name": "b", "image": "b", "ports": [{"containerPort": 80, "name": "web"}]},
            {"name": "c", "image": "c", "ports": [{"containerPort": 80, "hostPort": 8080}]},
            {
                "name": "d",
                "image": "d",
                "ports": [{"containerPort": 80, "hostPort": 8080, "hostIP": "1.2.3.4"}],
            },
            {"name": "e", "image": "e", "ports": [{"containerPort": 81, "hostIP": "1.2.3.4"}]},
        ]
    ),
    "no grace at all": _pod(terminationGracePeriodSeconds=-1),
    "addresses at length": _pod(
        dnsConfig={"nameservers": ["FE80::1"]},
        hostAliases=[{"ip": "::ffff:1.2.3.4", "hostnames": ["a"]}],
    ),
    "a service with hints": _in_default(
        "services",
        metadata={
            "name": "one",
            "annotations": {"service.kubernetes.io/topology-aware-hints": "auto"},
        },
        spec={"ports": [{"port": 80}], "externalName": "a.example"},
    ),
    "a headless service with too much": _in_default(
        "services",
        spec={
            "clusterIP": "None",
            "ports": [{"port": 80}],
            "externalIPs": ["2001:DB8::1"],
            "sessionAffinity": "ClientIP",
        },
    ),
    "a service elsewhere": _in_default(
        "services",
        spec={"type": "ExternalName", "externalName": "a.example", "externalIPs": ["1.2.3.4"]},
    ),
    "endpoints at length": _in_default(
        "endpoints", subsets=[{"addresses": [{"ip": "2001:DB8::1"}], "ports": [{"port": 80}]}]
    ),
    "a slice of names": Case(
        "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
        {
            "metadata": {"name": "one"},
            "addressType": "FQDN",
            "endpoints": [{"addresses": ["a.example"]}],
        },
    ),
    "a claim with half a byte": _in_default(
        "persistentvolumeclaims",
        metadata={
            "name": "one",
            "annotations": {"volume.beta.kubernetes.io/storage-class": "a"},
        },
        spec=_CLAIM,
    ),
    "a volume of old": _of_cluster(
        _VOLUMES,
        metadata={
            "name": "one",
            "annotations": {
                "volume.beta.kubernetes.io/storage-class": "a",
                "volume.beta.kubernetes.io/mount-options": "ro",
            },
        },
        spec={
            **_VOLUME,
            "glusterfs": {"endpoints": "x", "path": "y"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [_OLD_TERM]}},
        },
    ),
    "a volume that is recycled": _of_cluster(
        _VOLUMES,
        spec={
            **_VOLUME,
            "hostPath": {"path": "/mnt/a"},
            "persistentVolumeReclaimPolicy": "Recycle",
        },
    ),
    "a class of old": _of_cluster(
        "/apis/storage.k8s.io/v1/storageclasses",
        provisioner="a.example/b",
        allowedTopologies=[{"matchLabelExpressions": [{"key": _OLD, "values": ["a"]}]}],
    ),
    "a node of old": _of_cluster("/api/v1/nodes", spec={"externalID": "a"}),
    "an account that mounts what it may": _in_default(
        "serviceaccounts",
        metadata={
            "name": "one",
            "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"},
        },
    ),
    "TLS without a certificate": _tls("", _pem(_KEY)),
    "TLS without a key": _tls(_certificate(), ""),
    "TLS with another key": _tls(_certificate(), _pem(ec.generate_private_key(ec.SECP256R1()))),
    "TLS": _tls(_certificate(), _pem(_KEY)),
    "a format that nobody knows": Case(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        a_crd(a_version(schema={"openAPIV3Schema": _HEX})),
    ),
}
