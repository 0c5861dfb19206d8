"""A monitoring server, and what may be wrong with it."""

from typing import Any, Final

from tests.contract.large.mutations import GONE, Changes

Object = dict[str, Any]

MONITOR: Final[Object] = {
    "spec": {
        "version": "v3.5.0",
        "replicas": 2,
        "shards": 1,
        "retention": "15d",
        "retentionSize": "50GB",
        "serviceMonitorSelector": {"matchLabels": {"team": "house"}},
        "resources": {"requests": {"memory": "400Mi", "cpu": 1}},
        "storage": {
            "volumeClaimTemplate": {
                "metadata": {"name": "db", "labels": {"a": "b"}},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "50Gi"}},
                },
            }
        },
        "containers": [
            {
                "name": "monitor",
                "image": "monitor:1",
                "ports": [{"containerPort": 9090}],
                "env": [{"name": "A", "value": "1"}],
                "readinessProbe": {"httpGet": {"path": "/ready", "port": "web"}},
            },
            {"name": "proxy", "resources": {"limits": {"cpu": "100m"}}},
        ],
        "volumes": [
            {"name": "extra", "configMap": {"name": "extra", "items": [{"key": "a", "path": "b"}]}}
        ],
        "remoteWrite": [
            {
                "url": "https://far.example/write",
                "queueConfig": {"maxShards": 10},
                "writeRelabelConfigs": [{"sourceLabels": ["__name__"], "regex": "go_.*"}],
            }
        ],
        "alerting": {"alertmanagers": [{"name": "alerts", "port": "web"}]},
    }
}
_CONTAINER: Final = "spec.containers[0]"
_WRITE: Final = "spec.remoteWrite[0]"

MONITOR_CHANGES: Final[tuple[Changes, ...]] = (
    {},
    {"spec": {}},
    {"spec": {"replicas": None, "portName": None}},
    {"spec.replicas": -1},
    {"spec.replicas": 2147483648},
    {"spec.replicas": "2"},
    {"spec.shards": 0},
    {"spec.shards": 50, "spec.replicas": 3},
    {"spec.shards": 51},
    {"spec.retention": "15 days"},
    {"spec.retention": "1y2w3d4h5m6s7ms"},
    {"spec.retention": ""},
    {"spec.paused": True},
    {"spec.retentionSize": "50 GB"},
    {"spec.retentionSize": "1.5TiB"},
    {"spec.logLevel": "shout", "spec.logFormat": ""},
    {"spec.enableFeatures": ["a", "a"]},
    {"spec.enableFeatures": ["a", ""]},
    {"spec.scrapeProtocols": []},
    {"spec.scrapeProtocols": ["Protobuf", "Smoke"]},
    {"spec.externalLabels": {"a": 1}},
    {"spec.externalLabels": {"a": None}},
    {"spec.serviceMonitorSelector": {}},
    {"spec.serviceMonitorSelector": {"matchExpressions": [{"key": "a"}]}},
    {"spec.serviceMonitorSelector.matchLabels": ["a"]},
    {"spec.resources.requests.memory": "lots"},
    {"spec.resources.requests.memory": 1.5},
    {"spec.resources.requests": {"memory": None}},
    {"spec.resources.limits": {"cpu": "1e3", "memory": "-5Mi", "gpu.example/gpu": "1 "}},
    {"spec.resources.claims": [{"name": "a"}, {"name": "a"}]},
    {"spec.storage.emptyDir": {}},
    {"spec.storage.volumeClaimTemplate.spec.resources.requests.storage": True},
    {"spec.storage.volumeClaimTemplate.metadata.uid": "1"},
    {"spec.storage.volumeClaimTemplate.metadata.name": 5},
    {"spec.storage.volumeClaimTemplate.spec.accessModes": "ReadWriteOnce"},
    {"spec.storage": {"emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}},
    {"spec.storage": {"ephemeral": {"volumeClaimTemplate": {}}}},
    {f"{_CONTAINER}.name": "proxy"},
    {f"{_CONTAINER}.name": GONE},
    {f"{_CONTAINER}.ports": [{"containerPort": 1}, {"containerPort": 1, "protocol": "UDP"}]},
    {f"{_CONTAINER}.ports": [{"containerPort": 1}, {"containerPort": 1, "protocol": "TCP"}]},
    {f"{_CONTAINER}.ports": [{"containerPort": "web"}, {"hostPort": 5}]},
    {f"{_CONTAINER}.env": [{"name": "A"}, {"name": "A", "value": "2"}]},
    {f"{_CONTAINER}.env[0].valueFrom": {"secretKeyRef": {"name": "s"}}},
    {f"{_CONTAINER}.env[0].value": 1},
    {f"{_CONTAINER}.readinessProbe.httpGet.port": 1.5},
    {f"{_CONTAINER}.readinessProbe.httpGet.port": GONE},
    {f"{_CONTAINER}.readinessProbe.periodSeconds": "10"},
    {f"{_CONTAINER}.imagePullPolicy": "Sometimes"},
    {f"{_CONTAINER}.securityContext": {"capabilities": {"add": ["X"]}, "privileged": "no"}},
    {f"{_CONTAINER}.lifecycle": {"preStop": {"exec": {"command": "x"}}}},
    {f"{_CONTAINER}.volumeMounts": [{"mountPath": "/a"}, {"name": "x"}]},
    {f"{_CONTAINER}.resources": {"limits": {"cpu": "half"}}},
    {f"{_CONTAINER}.unknown": 1, "spec.volumes[0].floppy": {}},
    {"spec.volumes[0].configMap.items[0]": {}},
    {"spec.volumes[0].name": GONE},
    {"spec.volumes[1]": {"name": "x", "projected": {"sources": [{"serviceAccountToken": {}}]}}},
    {"spec.topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone"}]},
    {"spec.tolerations": [{"key": 1}, {"tolerationSeconds": 5.5}]},
    {
        "spec.affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "values": [1]}]}]
                }
            }
        }
    },
    {"spec.hostAliases": [{"ip": "1.2.3.4", "hostnames": []}, {"ip": "1.2.3.4"}]},
    {f"{_WRITE}.url": ""},
    {f"{_WRITE}.url": GONE},
    {f"{_WRITE}.queueConfig.maxShards": 0},
    {f"{_WRITE}.queueConfig": None},
    {f"{_WRITE}.sigv4": None},
    {f"{_WRITE}.writeRelabelConfigs[0].action": "explode"},
    {f"{_WRITE}.writeRelabelConfigs[0].action": None},
    {f"{_WRITE}.tlsConfig": {"minVersion": "SSL3", "ca": {"secret": {"name": "s"}}}},
    {f"{_WRITE}.oauth2": {"clientId": {}, "tokenUrl": ""}},
    {"spec.remoteWrite": [{"url": "https://a"}] * 6},
    {"spec.remoteRead": [{"url": "u", "proxyUrl": "gopher://x", "headers": {"a": False}}]},
    {"spec.scrapeClasses": [{"name": "a"}, {"name": "a"}, {"name": ""}]},
    {"spec.scrapeClasses": [{}]},
    {"spec.alerting.alertmanagers[0].port": 9093},
    {"spec.alerting.alertmanagers[0].port": 9093.5},
    {"spec.alerting.alertmanagers[0].port": None},
    {"spec.alerting.alertmanagers[0]": {"scheme": "gopher"}},
    {"spec.alerting": {}},
    {"spec.thanos": {}},
    {"spec.thanos": {"blockSize": "two hours", "minTime": 1}},
    {"spec.tracingConfig": {"endpoint": "e", "samplingFraction": "0.5"}},
    {"spec.tracingConfig": {"endpoint": "", "samplingFraction": "half", "clientType": "carrier"}},
    {"spec.web": {"maxConnections": -1, "httpConfig": {"headers": {"xFrameOptions": "Allow"}}}},
    {"spec.excludedFromEnforcement": [{"namespace": "n", "resource": "pods"}, {}]},
    {"spec.maximumStartupDurationSeconds": 59},
    {"spec.additionalScrapeConfigs": {"name": "s"}},
)
