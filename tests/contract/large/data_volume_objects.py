"""A data volume and a storage profile, and what may be wrong with them."""

from typing import Any, Final

from tests.contract.large.mutations import GONE, Changes

Object = dict[str, Any]

DATA_VOLUME: Final[Object] = {
    "spec": {
        "source": {"http": {"url": "https://images.example/disk.qcow2"}},
        "storage": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "10Gi"}},
        },
    }
}

DATA_VOLUME_CHANGES: Final[tuple[Changes, ...]] = (
    {},
    {"spec": {}},
    {"spec.source": GONE},
    {"spec.source": {}},
    {"spec.source": None},
    {"spec.source.blank": {}},
    {"spec.source": {"blank": {}}},
    {"spec.source": {"blank": {"size": 1}}},
    {"spec.source": {"blank": None}},
    {"spec.source": {"upload": []}},
    {"spec.sourceRef": {"kind": "DataSource", "name": "d"}},
    {"spec.source": GONE, "spec.sourceRef": {"kind": "DataSource", "name": "d"}},
    {"spec.source": GONE, "spec.sourceRef": {"kind": "Rumour"}},
    {"spec.source.http.url": 5},
    {"spec.source.http.url": "h" * 301},
    {"spec.source.http.checksum": "sha256:00ff"},
    {"spec.source.http.checksum": "crc:1"},
    {"spec.source.http.extraHeaders": ["a"] * 9},
    {"spec.source.http.extraHeaders": ["a" * 101, 1]},
    {"spec.source": {"registry": {"url": "docker://house.example/disk"}}},
    {"spec.source": {"registry": {"url": "http://house.example/disk"}}},
    {"spec.source": {"registry": {"url": "docker://x", "imageStream": "y"}}},
    {"spec.source": {"registry": {"pullMethod": "pigeon"}}},
    {"spec.source": {"pvc": {"name": "p"}}},
    {"spec.source": {"snapshot": {"name": "p", "namespace": "n"}}},
    {"spec.source": {"vddk": {"uuid": "123e4567-e89b-12d3-a456-426614174000"}}},
    {"spec.source": {"vddk": {"uuid": "not-a-uuid"}}},
    {"spec.source": {"s3": {"secretRef": "s"}}},
    {"spec.source": {"cassette": {"side": "b"}}},
    {"spec.storage": GONE},
    {"spec.storage": {}},
    {"spec.pvc": {"accessModes": ["ReadWriteOnce"]}},
    {"spec.storage": GONE, "spec.pvc": {"accessModes": ["ReadWriteOnce"]}},
    {"spec.storage": GONE, "spec.pvc": {"resources": {"requests": {"storage": "ten"}}}},
    {"spec.storage.accessModes": ["ReadWriteOnce", "ReadWriteOnce"]},
    {"spec.storage.accessModes": ["ReadAloud"]},
    {"spec.storage.accessModes": GONE},
    {"spec.storage.volumeMode": "Tape"},
    {"spec.storage.resources.requests.storage": 10737418240},
    {"spec.storage.resources.requests.storage": "10 Gi"},
    {"spec.storage.resources.requests.storage": None},
    {"spec.storage.dataSourceRef": {"kind": "K", "name": "n", "namespace": "x"}},
    {"spec.storage.dataSource": {"apiGroup": 5}},
    {"spec.storage.selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
    {"spec.contentType": "kubevirt"},
    {"spec.contentType": ""},
    {"spec.checkpoints": [{"current": "b", "previous": "a"}]},
    {"spec.checkpoints": [{"current": "b"}, {"previous": "a"}, {"current": "c" * 51}]},
    {"spec.preallocation": "yes", "spec.finalCheckpoint": 1},
    {"status": {"phase": "Dancing", "restartCount": -1}},
    {"status": {"phase": "Succeeded", "progress": "100.0%"}},
    {"status": {"progress": "done"}},
    {
        "status": {
            "conditions": [
                {"type": "Ready", "status": "True"},
                {"type": "Ready", "status": "False"},
            ]
        }
    },
)

DATA_VOLUME_UPDATES: Final[tuple[Changes, ...]] = (
    {"spec.source.http.url": "https://images.example/other.qcow2"},
    {"spec.source": {"blank": {}}},
    {"spec.source": GONE, "spec.sourceRef": {"kind": "DataSource", "name": "d"}},
    {"spec.priorityClassName": "high"},
    {"spec.priorityClassName": "low"},
    {"spec.priorityClassName": GONE},
    {"spec.storage.resources.requests.storage": "20Gi"},
    {"spec.contentType": "archive", "metadata.labels": {"a": "b"}},
)

STORAGE_PROFILE: Final[Object] = {
    "spec": {
        "cloneStrategy": "snapshot",
        "claimPropertySets": [{"accessModes": ["ReadWriteMany"], "volumeMode": "Block"}],
    }
}

STORAGE_PROFILE_CHANGES: Final[tuple[Changes, ...]] = (
    {},
    {"spec": {}},
    {"spec": GONE},
    {"spec.cloneStrategy": "ctrl-c"},
    {"spec.claimPropertySets[0].volumeMode": "Filesystem"},
    {"spec.claimPropertySets[0].volumeMode": GONE},
    {"spec.claimPropertySets[0].accessModes": []},
    {"spec.claimPropertySets[0].accessModes": ["ReadWriteMany"] * 5},
    {"spec.claimPropertySets[0].accessModes[0]": "ReadNever"},
    {"spec.claimPropertySets[1]": {"accessModes": ["ReadWriteMany"], "volumeMode": "Filesystem"}},
    {"metadata.name": "a/b"},
)
