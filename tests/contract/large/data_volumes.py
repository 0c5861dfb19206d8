"""Data volumes and storage profiles, in the shape that importers of disks give them.

Two versions of one schema, of which the old is on its way out; what was asked for once cannot change.
"""

from dataclasses import replace
from typing import Any, Final

from tests.contract.large.definitions import QUANTITY, Column, Version, definition

Object = dict[str, Any]
GROUP: Final = "data.example"

TYPES: Final = """
Spec
  checkpoints           [Checkpoint]
  contentType           string
  finalCheckpoint       boolean
  preallocation         boolean
  priorityClassName     string
  pvc                   PersistentVolumeClaimSpec
  source                Source
  sourceRef             SourceRef
  storage               StorageSpec
Status
  claimName             string
  conditions            [VolumeCondition]
  phase                 string
  progress              string
  restartCount          int32
VolumeCondition
  lastHeartbeatTime     time
  lastTransitionTime    time
  message               string
  reason                string
  status                string!
  type                  string!
Checkpoint
  current               string!
  previous              string!
Source
  blank                 Blank
  gcs                   Object
  http                  Http
  imageio               Imageio
  pvc                   NamedClaim
  registry              Registry
  s3                    Object
  snapshot              NamedClaim
  upload                Upload
  vddk                  Vddk
Blank
Upload
Object
  certConfigMap         string
  secretRef             string
  url                   string!
Http
  certConfigMap         string
  checksum              string
  extraHeaders          [string]
  secretExtraHeaders    [string]
  secretRef             string
  url                   string!
Imageio
  certConfigMap         string
  diskId                string!
  insecureSkipVerify    boolean
  secretRef             string
  url                   string!
NamedClaim
  name                  string!
  namespace             string!
Registry
  certConfigMap         string
  imageStream           string
  platform              Platform
  pullMethod            string
  secretRef             string
  url                   string
Platform
  architecture          string
Vddk
  backingFile           string
  certConfigMap         string
  extraArgs             string
  initImageURL          string
  secretRef             string
  thumbprint            string
  url                   string
  uuid                  string
SourceRef
  kind                  string!
  name                  string!
  namespace             string
StorageSpec
  accessModes           [string]
  dataSource            TypedLocalObjectReference
  dataSourceRef         TypedObjectReference
  resources             ResourceRequirements
  selector              LabelSelector
  storageClassName      string
  volumeMode            string
  volumeName            string
"""
_SOURCES: Final = (
    *("blank", "gcs", "http", "imageio", "pvc", "registry", "s3", "snapshot", "upload", "vddk"),
)
_FIXED: Final = {
    "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "Value is immutable"}]
}
RULES: Final[dict[str, Object]] = {
    "": {"required": ["spec"], "description": "A disk, and where its content comes from."},
    "spec": {
        "x-kubernetes-validations": [
            {
                "rule": "has(self.source) != has(self.sourceRef)",
                "message": "a source, or a reference to one",
            },
            {
                "rule": "has(self.pvc) != has(self.storage)",
                "message": "a claim, or what to make of one",
                "reason": "FieldValueRequired",
                "fieldPath": ".storage",
            },
            {
                "rule": "has(self.source) == has(oldSelf.source)",
                "message": "the sort of source stays",
                "fieldPath": ".source",
            },
        ]
    },
    "spec.source": {
        **_FIXED,
        "minProperties": 1,
        "maxProperties": 1,
        "description": "Where the content comes from: one of them.",
    },
    "spec.contentType": {"enum": ["kubevirt", "archive"]},
    "spec.checkpoints": {"maxItems": 10},
    "spec.checkpoints[].current": {"maxLength": 50},
    "spec.priorityClassName": {"maxLength": 63, **_FIXED},
    "spec.source.http.url": {"maxLength": 300},
    "spec.source.http.checksum": {
        "maxLength": 150,
        "pattern": "^(md5|sha1|sha256|sha512):[a-fA-F0-9]+$",
    },
    "spec.source.http.extraHeaders": {"maxItems": 8},
    "spec.source.http.extraHeaders[]": {"maxLength": 100},
    "spec.source.http.secretExtraHeaders": {"maxItems": 8},
    "spec.source.http.secretExtraHeaders[]": {"maxLength": 100},
    "spec.source.registry": {
        "oneOf": [{"required": ["url"]}, {"required": ["imageStream"]}],
    },
    "spec.source.registry.pullMethod": {"enum": ["pod", "node"]},
    "spec.source.registry.url": {
        "maxLength": 300,
        "pattern": "^(docker|oci-archive)://.+",
    },
    "spec.source.vddk.uuid": {"format": "uuid"},
    "spec.sourceRef.kind": {"enum": ["DataSource"]},
    "spec.storage.accessModes": {"maxItems": 4, "x-kubernetes-list-type": "set"},
    "spec.storage.accessModes[]": {
        "enum": ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]
    },
    "spec.storage.resources.requests{}": QUANTITY,
    "spec.storage.resources.limits{}": QUANTITY,
    "spec.storage.volumeMode": {"enum": ["Filesystem", "Block"]},
    "spec.pvc.resources.requests{}": QUANTITY,
    "spec.pvc.volumeMode": {"default": "Filesystem"},
    "status.progress": {"pattern": r"^(N/A|\d{1,3}\.\d{1,2}%)$"},
    "status.restartCount": {"minimum": 0},
    "status.phase": {"enum": ["", "Pending", "ImportInProgress", "Succeeded", "Failed", "Paused"]},
    "status.conditions": {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
}
_NEW: Final = Version(
    "v1beta1",
    TYPES,
    RULES,
    columns=(
        Column("Phase", ".status.phase"),
        Column("Progress", ".status.progress"),
        Column("Restarts", ".status.restartCount", "integer"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
    selectable=(".status.phase",),
)
_OLD: Final = replace(
    _NEW,
    name="v1alpha1",
    more={"deprecated": True, "deprecationWarning": "data.example/v1alpha1 goes, take v1beta1"},
)

DATA_VOLUME: Final = definition(
    GROUP, "DataVolume", "datavolumes", _NEW, _OLD, shortNames=["dv", "dvs"], categories=["all"]
)

PROFILE_TYPES: Final = """
Spec
  claimPropertySets     [PropertySet]
  cloneStrategy         string
  dataImportCronSourceFormat string
  snapshotClass         string
Status
  claimPropertySets     [PropertySet]
  cloneStrategy         string
  provisioner           string
  storageClass          string
PropertySet
  accessModes           [string]!
  volumeMode            string!
"""

STORAGE_PROFILE: Final = definition(
    GROUP,
    "StorageProfile",
    "storageprofiles",
    Version(
        "v1beta1",
        PROFILE_TYPES,
        {
            "": {"required": ["spec"]},
            "spec.cloneStrategy": {"enum": ["copy", "snapshot", "csi-clone"]},
            "spec.claimPropertySets": {"maxItems": 8},
            "spec.claimPropertySets[].accessModes": {"maxItems": 4},
            "spec.claimPropertySets[].accessModes[]": {
                "enum": ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"]
            },
            "spec.claimPropertySets[]": {
                "x-kubernetes-validations": [
                    {
                        "rule": "self.volumeMode == 'Block' || !self.accessModes.exists(mode, mode == 'ReadWriteMany')",
                        "message": "many writers need a block device",
                    }
                ]
            },
            "spec.claimPropertySets[].volumeMode": {"enum": ["Block", "Filesystem"]},
        },
        columns=(Column("Provisioner", ".status.provisioner"),),
    ),
    scope="Cluster",
)
