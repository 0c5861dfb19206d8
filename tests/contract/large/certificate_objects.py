"""An issuer and a certificate, and what may be wrong with them."""

from typing import Any, Final

from tests.contract.large.mutations import GONE, Changes

Object = dict[str, Any]

ISSUER: Final[Object] = {
    "spec": {
        "acme": {
            "server": "https://acme.example/directory",
            "email": "ann@house.example",
            "privateKeySecretRef": {"name": "account"},
            "solvers": [
                {
                    "selector": {"dnsZones": ["house.example"]},
                    "dns01": {"cloudflare": {"apiTokenSecretRef": {"name": "t", "key": "token"}}},
                },
                {
                    "http01": {
                        "ingress": {
                            "ingressClassName": "front",
                            "podTemplate": {
                                "metadata": {"labels": {"a": "b"}},
                                "spec": {
                                    "nodeSelector": {"zone": "a"},
                                    "tolerations": [{"key": "edge", "operator": "Exists"}],
                                    "imagePullSecrets": [{"name": "one"}, {"name": "two"}],
                                    "affinity": {
                                        "podAntiAffinity": {
                                            "requiredDuringSchedulingIgnoredDuringExecution": [
                                                {
                                                    "topologyKey": "host",
                                                    "labelSelector": {"matchLabels": {"a": "b"}},
                                                }
                                            ]
                                        }
                                    },
                                },
                            },
                        }
                    }
                },
            ],
        }
    }
}
_POD: Final = "spec.acme.solvers[1].http01.ingress.podTemplate.spec"
_TERM: Final = f"{_POD}.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"

ISSUER_CHANGES: Final[tuple[Changes, ...]] = (
    {},
    {"spec": GONE},
    {"spec": None},
    {"spec": []},
    {"spec": {}},
    {"spec": {"selfSigned": {}}},
    {"spec": {"selfSigned": None}},
    {"spec": {"selfSigned": {"crlDistributionPoints": ["a", None, 1]}}},
    {"spec.ca": {"secretName": "ca"}},
    {"spec.ca": {}},
    {"spec": {"ca": {"secretName": 5, "ocspServers": "x"}}},
    {"spec": {"vault": {"path": "pki", "server": "ftp://v", "auth": {}}}},
    {"spec": {"vault": {"path": "pki", "server": "https://v", "auth": {"tokenSecretRef": {}}}}},
    {
        "spec": {
            "vault": {
                "path": "pki",
                "server": "https://v",
                "auth": {"tokenSecretRef": {"name": "t"}, "appRole": {"path": "p"}},
            }
        }
    },
    {"spec": {"vault": {"server": "http://", "auth": {"kubernetes": {"role": "r", "x": 1}}}}},
    {"spec": {"venafi": {"zone": "z"}}},
    {"spec": {"venafi": {"zone": "z", "cloud": {}, "tpp": {"url": "u", "credentialsRef": {}}}}},
    {"spec.acme.server": GONE},
    {"spec.acme.server": "not a uri at all"},
    {"spec.acme.server": "https://" + "a" * 200},
    {"spec.acme.email": "nobody"},
    {"spec.acme.email": ""},
    {"spec.acme.privateKeySecretRef": {}},
    {"spec.acme.privateKeySecretRef.name": True},
    {"spec.acme.caBundle": "AAAA", "spec.acme.skipTLSVerify": True},
    {"spec.acme.caBundle": "not base64!"},
    {"spec.acme.skipTLSVerify": "yes"},
    {"spec.acme.preferredChain": "c" * 65},
    {"spec.acme.externalAccountBinding": {"keyID": "k", "keySecretRef": {"name": "n"}}},
    {
        "spec.acme.externalAccountBinding": {
            "keyID": 1,
            "keySecretRef": {},
            "keyAlgorithm": "HS1",
        }
    },
    {"spec.acme.solvers": []},
    {"spec.acme.solvers": None},
    {"spec.acme.solvers": {}},
    {"spec.acme.solvers[0]": {}},
    {"spec.acme.solvers[0]": None},
    {"spec.acme.solvers": [{"dns01": {"digitalocean": {"tokenSecretRef": {"name": "x"}}}}] * 9},
    {"spec.acme.solvers[0].http01": {"gatewayHTTPRoute": {}}},
    {"spec.acme.solvers[0].dns01": {}},
    {"spec.acme.solvers[0].dns01": {"cnameStrategy": "Follow"}},
    {"spec.acme.solvers[0].dns01.cnameStrategy": "Maybe"},
    {"spec.acme.solvers[0].dns01.cloudflare": {"email": "a@b.c"}},
    {"spec.acme.solvers[0].dns01.rfc2136": {"nameserver": "10.0.0.1:53"}},
    {
        "spec.acme.solvers[0].dns01.rfc2136": {"nameserver": "n", "protocol": "SCTP"},
        "spec.acme.solvers[0].dns01.route53": {},
    },
    {"spec.acme.solvers[0].dns01": {"azureDNS": {"environment": "Space"}}},
    {"spec.acme.solvers[0].dns01": {"webhook": {"groupName": "g", "config": {"any": [1, None]}}}},
    {
        "spec.acme.solvers[0].dns01": {
            "webhook": {"groupName": "g", "solverName": "s", "config": ["x", {"y": None}]}
        }
    },
    {"spec.acme.solvers[0].dns01": {"unheardOf": {}}},
    {"spec.acme.solvers[0].selector.matchLabels": {"a": 1, "b": None}},
    {"spec.acme.solvers[0].selector.dnsZones[0]": {"deep": True}},
    {"spec.acme.solvers[1].http01.ingress.class": "old"},
    {"spec.acme.solvers[1].http01.ingress.serviceType": "LoadBalancer"},
    {"spec.acme.solvers[1].http01.gatewayHTTPRoute": {"parentRefs": [{"name": "g"}]}},
    {"spec.acme.solvers[1].http01": {"gatewayHTTPRoute": {"parentRefs": []}}},
    {"spec.acme.solvers[1].http01": {"gatewayHTTPRoute": {"parentRefs": [{"name": "g"}]}}},
    {
        "spec.acme.solvers[1].http01": {
            "gatewayHTTPRoute": {"parentRefs": [{"name": "g", "port": 0, "group": "Not.A.Group"}]}
        }
    },
    {f"{_POD}.tolerations[0].tolerationSeconds": "5"},
    {f"{_POD}.imagePullSecrets[1].name": "one"},
    {f"{_POD}.imagePullSecrets[1]": {}},
    {f"{_POD}.nodeSelector.zone": 5},
    {f"{_POD}.resources": {"limits": {"cpu": 1, "memory": "1Gi"}, "requests": {"cpu": []}}},
    {f"{_POD}.securityContext": {"runAsUser": 1.5, "fsGroup": "x", "sysctls": [{}]}},
    {f"{_TERM}.topologyKey": GONE},
    {f"{_TERM}.labelSelector.matchExpressions": [{"key": "a"}, {"operator": "In"}]},
    {f"{_TERM}.labelSelector.unknown": 1, f"{_TERM}.alsoUnknown": {"x": 1}},
    {"unknown": 1, "spec.unknown": 2, "spec.acme.unknown": 3},
    {"metadata.name": "Not_A_Name"},
    {"metadata.labels": {"a b": "c"}},
    {"status": {"conditions": [{"type": "Ready"}]}},
)

CERTIFICATE: Final[Object] = {
    "spec": {
        "secretName": "web",
        "issuerRef": {"name": "house"},
        "dnsNames": ["house.example", "www.house.example"],
        "usages": ["server auth", "client auth"],
        "privateKey": {"algorithm": "ECDSA", "size": 256},
        "secretTemplate": {"labels": {"a": "b"}},
    }
}

CERTIFICATE_CHANGES: Final[tuple[Changes, ...]] = (
    {},
    {"spec": {}},
    {"spec.dnsNames": GONE},
    {"spec.dnsNames": []},
    {"spec.dnsNames": GONE, "spec.commonName": "house"},
    {"spec.dnsNames": GONE, "spec.uris": ["spiffe://house"]},
    {"spec.dnsNames": ["a"] * 21},
    {"spec.dnsNames[0]": ""},
    {"spec.dnsNames[0]": None},
    {"spec.commonName": "c" * 65},
    {"spec.commonName": "ü" * 64},
    {"spec.commonName": 7},
    {"spec.secretName": ""},
    {"spec.secretName": GONE, "spec.issuerRef": GONE},
    {"spec.issuerRef": {"name": "n", "kind": "ClusterIssuer", "group": "other.example"}},
    {"spec.issuerRef": {"kind": "Pope"}},
    {"spec.issuerRef": {"name": "n", "kind": None, "group": None}},
    {"spec.duration": "90d"},
    {"spec.duration": "1h30m0.5s"},
    {"spec.duration": 90},
    {"spec.renewBefore": "1h"},
    {"spec.renewBefore": "1h", "spec.renewBeforePercentage": 10},
    {"spec.renewBeforePercentage": 0},
    {"spec.renewBeforePercentage": 100},
    {"spec.renewBeforePercentage": 50.0},
    {"spec.revisionHistoryLimit": 0},
    {"spec.revisionHistoryLimit": 3},
    {"spec.privateKey": GONE},
    {"spec.privateKey": None},
    {"spec.privateKey": {"size": 1024}},
    {"spec.privateKey": {"size": 2049}},
    {"spec.privateKey": {"size": 16384}},
    {"spec.privateKey": {"algorithm": "Ed25519", "size": 256}},
    {"spec.privateKey": {"algorithm": "Rot13", "encoding": "Morse"}},
    {"spec.privateKey": {"size": "2048"}},
    {"spec.privateKey.rotationPolicy": "Sometimes"},
    {"spec.usages": ["server auth", "server auth"]},
    {"spec.usages": ["world domination"]},
    {"spec.usages[0]": 1},
    {"spec.emailAddresses": ["a@b.c", "a@b.c", "nobody"]},
    {"spec.ipAddresses": ["10.0.0.1", "::1"]},
    {"spec.ipAddresses": ["10.0.0.256", "house", ""]},
    {"spec.additionalOutputFormats": [{"type": "DER"}, {"type": "CombinedPEM"}]},
    {"spec.additionalOutputFormats": [{"type": "DER"}, {"type": "DER"}]},
    {"spec.additionalOutputFormats": [{}, {"type": "PDF"}]},
    {"spec.keystores": {"jks": {"create": True, "password": "p"}}},
    {"spec.keystores": {"jks": {"create": True}}},
    {"spec.keystores": {"jks": {"password": "p", "passwordSecretRef": {"name": "n"}}}},
    {"spec.keystores": {"pkcs12": {"create": True, "profile": None}}},
    {"spec.keystores": {"pkcs12": {"create": "true", "profile": "Ancient"}}},
    {"spec.nameConstraints": {"permitted": {"ipRanges": ["10.0.0.0/8", "10.0.0.0/99", "x"]}}},
    {"spec.otherNames": [{"oid": "1.3.6.1", "utf8Value": "x"}, {"oid": "one.two"}]},
    {"spec.secretTemplate.labels": {"a": "x" * 64}},
    {"spec.secretTemplate.labels": {"a": 1}},
    {"spec.secretTemplate.labels": None},
    {"spec.subject": {"countries": "DE", "serialNumber": 5}},
    {"spec.subject": {"countries": ["DE"], "planets": ["Earth"]}},
    {"spec.isCA": 1},
)

CERTIFICATE_UPDATES: Final[tuple[Changes, ...]] = (
    {"spec.secretName": "other"},
    {"spec.commonName": "house"},
    {"spec.dnsNames": GONE},
    {"spec.privateKey": {"size": 1024}},
    {"spec.issuerRef.name": "other"},
    {"spec.duration": "1"},
)
