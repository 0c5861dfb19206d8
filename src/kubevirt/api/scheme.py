"""Every resource that the house speaks of, by one name each: `VIRTUAL_MACHINES`, `PODS`, …"""

from kubevirt.api.backup import VirtualMachineBackup, VirtualMachineBackupTracker
from kubevirt.api.clone import VirtualMachineClone
from kubevirt.api.core import admission, extension, policy, rbac, reviews, workloads
from kubevirt.api.core.event import Event
from kubevirt.api.core.lease import Lease
from kubevirt.api.core.namespace import ConfigMap, Namespace, Secret, ServiceAccount
from kubevirt.api.core.node import Node
from kubevirt.api.core.pod import Pod
from kubevirt.api.core.scheduling import PriorityClass
from kubevirt.api.core.service import EndpointSlice, Service
from kubevirt.api.core.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubevirt.api.export import VirtualMachineExport
from kubevirt.api.installation import KubeVirt
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instancetype import VirtualMachineClusterInstancetype, VirtualMachineInstancetype
from kubevirt.api.machine import VirtualMachine
from kubevirt.api.migration import VirtualMachineInstanceMigration
from kubevirt.api.migration_policy import MigrationPolicy
from kubevirt.api.plugin import Plugin
from kubevirt.api.pool import VirtualMachinePool
from kubevirt.api.preference import VirtualMachineClusterPreference, VirtualMachinePreference
from kubevirt.api.preset import VirtualMachineInstancePreset
from kubevirt.api.replicaset import VirtualMachineInstanceReplicaSet
from kubevirt.api.resource import Resource
from kubevirt.api.snapshot import (
    VirtualMachineRestore,
    VirtualMachineSnapshot,
    VirtualMachineSnapshotContent,
)

VIRTUAL_MACHINES = Resource(
    "kubevirt.io", "v1", "virtualmachines", "VirtualMachine", True, VirtualMachine
)
VIRTUAL_MACHINE_INSTANCES = Resource(
    "kubevirt.io",
    "v1",
    "virtualmachineinstances",
    "VirtualMachineInstance",
    True,
    VirtualMachineInstance,
)
REPLICA_SETS = Resource(
    "kubevirt.io",
    "v1",
    "virtualmachineinstancereplicasets",
    "VirtualMachineInstanceReplicaSet",
    True,
    VirtualMachineInstanceReplicaSet,
)
MIGRATIONS = Resource(
    "kubevirt.io",
    "v1",
    "virtualmachineinstancemigrations",
    "VirtualMachineInstanceMigration",
    True,
    VirtualMachineInstanceMigration,
)
PRESETS = Resource(
    "kubevirt.io",
    "v1",
    "virtualmachineinstancepresets",
    "VirtualMachineInstancePreset",
    True,
    VirtualMachineInstancePreset,
)
KUBEVIRTS = Resource("kubevirt.io", "v1", "kubevirts", "KubeVirt", True, KubeVirt)
POOLS = Resource(
    "pool.kubevirt.io",
    "v1beta1",
    "virtualmachinepools",
    "VirtualMachinePool",
    True,
    VirtualMachinePool,
)
SNAPSHOTS = Resource(
    "snapshot.kubevirt.io",
    "v1beta1",
    "virtualmachinesnapshots",
    "VirtualMachineSnapshot",
    True,
    VirtualMachineSnapshot,
)
SNAPSHOT_CONTENTS = Resource(
    "snapshot.kubevirt.io",
    "v1beta1",
    "virtualmachinesnapshotcontents",
    "VirtualMachineSnapshotContent",
    True,
    VirtualMachineSnapshotContent,
)
RESTORES = Resource(
    "snapshot.kubevirt.io",
    "v1beta1",
    "virtualmachinerestores",
    "VirtualMachineRestore",
    True,
    VirtualMachineRestore,
)
EXPORTS = Resource(
    "export.kubevirt.io",
    "v1",
    "virtualmachineexports",
    "VirtualMachineExport",
    True,
    VirtualMachineExport,
)
BACKUPS = Resource(
    "backup.kubevirt.io",
    "v1alpha1",
    "virtualmachinebackups",
    "VirtualMachineBackup",
    True,
    VirtualMachineBackup,
)
BACKUP_TRACKERS = Resource(
    "backup.kubevirt.io",
    "v1alpha1",
    "virtualmachinebackuptrackers",
    "VirtualMachineBackupTracker",
    True,
    VirtualMachineBackupTracker,
)
INSTANCETYPES = Resource(
    "instancetype.kubevirt.io",
    "v1beta1",
    "virtualmachineinstancetypes",
    "VirtualMachineInstancetype",
    True,
    VirtualMachineInstancetype,
)
CLUSTER_INSTANCETYPES = Resource(
    "instancetype.kubevirt.io",
    "v1beta1",
    "virtualmachineclusterinstancetypes",
    "VirtualMachineClusterInstancetype",
    False,
    VirtualMachineClusterInstancetype,
)
PREFERENCES = Resource(
    "instancetype.kubevirt.io",
    "v1beta1",
    "virtualmachinepreferences",
    "VirtualMachinePreference",
    True,
    VirtualMachinePreference,
)
CLUSTER_PREFERENCES = Resource(
    "instancetype.kubevirt.io",
    "v1beta1",
    "virtualmachineclusterpreferences",
    "VirtualMachineClusterPreference",
    False,
    VirtualMachineClusterPreference,
)
MIGRATION_POLICIES = Resource(
    "migrations.kubevirt.io",
    "v1alpha1",
    "migrationpolicies",
    "MigrationPolicy",
    False,
    MigrationPolicy,
)
CLONES = Resource(
    "clone.kubevirt.io",
    "v1beta1",
    "virtualmachineclones",
    "VirtualMachineClone",
    True,
    VirtualMachineClone,
)
PLUGINS = Resource("plugin.kubevirt.io", "v1alpha1", "plugins", "Plugin", False, Plugin)

NAMESPACES = Resource("", "v1", "namespaces", "Namespace", False, Namespace)
NODES = Resource("", "v1", "nodes", "Node", False, Node)
PODS = Resource("", "v1", "pods", "Pod", True, Pod)
CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap", True, ConfigMap)
SECRETS = Resource("", "v1", "secrets", "Secret", True, Secret)
SERVICES = Resource("", "v1", "services", "Service", True, Service)
SERVICE_ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount", True, ServiceAccount)
EVENTS = Resource("", "v1", "events", "Event", True, Event)
PERSISTENT_VOLUMES = Resource(
    "", "v1", "persistentvolumes", "PersistentVolume", False, PersistentVolume
)
PERSISTENT_VOLUME_CLAIMS = Resource(
    "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", True, PersistentVolumeClaim
)
ENDPOINT_SLICES = Resource(
    "discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", True, EndpointSlice
)
LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease", True, Lease)
STORAGE_CLASSES = Resource(
    "storage.k8s.io", "v1", "storageclasses", "StorageClass", False, StorageClass
)
PRIORITY_CLASSES = Resource(
    "scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", False, PriorityClass
)
CONTROLLER_REVISIONS = Resource(
    "apps", "v1", "controllerrevisions", "ControllerRevision", True, workloads.ControllerRevision
)
DEPLOYMENTS = Resource("apps", "v1", "deployments", "Deployment", True, workloads.Deployment)
DAEMON_SETS = Resource("apps", "v1", "daemonsets", "DaemonSet", True, workloads.DaemonSet)
POD_DISRUPTION_BUDGETS = Resource(
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", True, policy.PodDisruptionBudget
)
ROLES = Resource("rbac.authorization.k8s.io", "v1", "roles", "Role", True, rbac.Role)
CLUSTER_ROLES = Resource(
    "rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", False, rbac.ClusterRole
)
ROLE_BINDINGS = Resource(
    "rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", True, rbac.RoleBinding
)
CLUSTER_ROLE_BINDINGS = Resource(
    "rbac.authorization.k8s.io",
    "v1",
    "clusterrolebindings",
    "ClusterRoleBinding",
    False,
    rbac.ClusterRoleBinding,
)
CUSTOM_RESOURCE_DEFINITIONS = Resource(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    False,
    extension.CustomResourceDefinition,
)
API_SERVICES = Resource(
    "apiregistration.k8s.io", "v1", "apiservices", "APIService", False, extension.APIService
)
MUTATING_WEBHOOKS = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    False,
    admission.MutatingWebhookConfiguration,
)
VALIDATING_WEBHOOKS = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "validatingwebhookconfigurations",
    "ValidatingWebhookConfiguration",
    False,
    admission.ValidatingWebhookConfiguration,
)
SUBJECT_ACCESS_REVIEWS = Resource(
    "authorization.k8s.io",
    "v1",
    "subjectaccessreviews",
    "SubjectAccessReview",
    False,
    reviews.SubjectAccessReview,
)
SELF_SUBJECT_ACCESS_REVIEWS = Resource(
    "authorization.k8s.io",
    "v1",
    "selfsubjectaccessreviews",
    "SelfSubjectAccessReview",
    False,
    reviews.SelfSubjectAccessReview,
)
TOKEN_REVIEWS = Resource(
    "authentication.k8s.io", "v1", "tokenreviews", "TokenReview", False, reviews.TokenReview
)
