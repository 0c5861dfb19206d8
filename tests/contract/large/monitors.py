"""A monitoring server, in the shape that monitoring operators give it: most of a pod, and much of its own."""

from typing import Any, Final

from tests.contract.large.definitions import CONDITIONS, QUANTITY, Column, Version, definition

Object = dict[str, Any]
GROUP: Final = "monitoring.example"

TYPES: Final = """
Spec
  additionalArgs        [Argument]
  additionalScrapeConfigs SecretKeySelector
  affinity              Affinity
  alerting              Alerting
  apiserverConfig       ApiserverConfig
  arbitraryFSAccessThroughSMs ArbitraryAccess
  configMaps            [string]
  containers            [Container] map(name)
  dnsConfig             PodDNSConfig
  dnsPolicy             string
  enableFeatures        [string] set
  enforcedBodySizeLimit string
  enforcedSampleLimit   int64
  evaluationInterval    string
  excludedFromEnforcement [ObjectExclusion]
  externalLabels        {string}
  externalUrl           string
  hostAliases           [HostAlias] map(ip)
  hostNetwork           boolean
  image                 string
  imagePullPolicy       string
  imagePullSecrets      [LocalObjectReference]
  initContainers        [Container]
  listenLocal           boolean
  logFormat             string
  logLevel              string
  maximumStartupDurationSeconds int32
  minReadySeconds       int64
  nodeSelector          {string}
  paused                boolean
  persistentVolumeClaimRetentionPolicy RetentionPolicy
  podManagementPolicy   string
  podMetadata           EmbeddedMetadata
  podMonitorSelector    LabelSelector
  portName              string
  priorityClassName     string
  probeSelector         LabelSelector
  query                 Query
  remoteRead            [RemoteRead]
  remoteWrite           [RemoteWrite]
  replicas              int32
  resources             ResourceRequirements
  retention             string
  retentionSize         string
  routePrefix           string
  ruleSelector          LabelSelector
  rules                 Rules
  scrapeClasses         [ScrapeClass] map(name)
  scrapeInterval        string
  scrapeProtocols       [string] set
  scrapeTimeout         string
  secrets               [string] set
  securityContext       PodSecurityContext
  serviceAccountName    string
  serviceMonitorNamespaceSelector LabelSelector
  serviceMonitorSelector LabelSelector
  shards                int32
  storage               Storage
  tag                   string
  thanos                Thanos
  tolerations           [Toleration]
  topologySpreadConstraints [TopologySpreadConstraint]
  tracingConfig         Tracing
  tsdb                  Tsdb
  version               string
  volumeMounts          [VolumeMount]
  volumes               [Volume]
  walCompression        boolean
  web                   Web
Status
  availableReplicas     int32
  conditions            [Condition]
  paused                boolean
  replicas              int32
  selector              string
  shardStatuses         [ShardStatus] map(shardID)
  shards                int32
  unavailableReplicas   int32
  updatedReplicas       int32
ShardStatus
  availableReplicas     int32!
  replicas              int32!
  shardID               string!
  unavailableReplicas   int32!
  updatedReplicas       int32!
Argument
  name                  string!
  value                 string
ArbitraryAccess
  deny                  boolean
ObjectExclusion
  group                 string
  name                  string
  namespace             string!
  resource              string!
EmbeddedMetadata
  annotations           {string}
  labels                {string}
  name                  string
RetentionPolicy
  whenDeleted           string
  whenScaled            string
Alerting
  alertmanagers         [Alertmanager]!
Alertmanager
  apiVersion            string
  authorization         Authorization
  basicAuth             BasicAuth
  bearerTokenFile       string
  name                  string!
  namespace             string
  pathPrefix            string
  port                  int-or-string!
  relabelings           [Relabeling]
  scheme                string
  sigv4                 Sigv4
  timeout               string
  tlsConfig             TlsConfig
ApiserverConfig
  authorization         Authorization
  basicAuth             BasicAuth
  host                  string!
  tlsConfig             TlsConfig
Authorization
  credentials           SecretKeySelector
  credentialsFile       string
  type                  string
BasicAuth
  password              SecretKeySelector
  username              SecretKeySelector
OAuth2
  clientId              SecretOrConfigMap!
  clientSecret          SecretKeySelector!
  endpointParams        {string}
  scopes                [string]
  tokenUrl              string!
SecretOrConfigMap
  configMap             ConfigMapKeySelector
  secret                SecretKeySelector
Sigv4
  accessKey             SecretKeySelector
  profile               string
  region                string
  roleArn               string
  secretKey             SecretKeySelector
TlsConfig
  ca                    SecretOrConfigMap
  caFile                string
  cert                  SecretOrConfigMap
  certFile              string
  insecureSkipVerify    boolean
  keyFile               string
  keySecret             SecretKeySelector
  maxVersion            string
  minVersion            string
  serverName            string
Relabeling
  action                string
  modulus               int64
  regex                 string
  replacement           string
  separator             string
  sourceLabels          [string]
  targetLabel           string
RemoteRead
  authorization         Authorization
  basicAuth             BasicAuth
  filterExternalLabels  boolean
  headers               {string}
  name                  string
  oauth2                OAuth2
  proxyUrl              string
  readRecent            boolean
  remoteTimeout         string
  requiredMatchers      {string}
  tlsConfig             TlsConfig
  url                   string!
RemoteWrite
  authorization         Authorization
  basicAuth             BasicAuth
  enableHTTP2           boolean
  headers               {string}
  metadataConfig        MetadataConfig
  name                  string
  oauth2                OAuth2
  proxyUrl              string
  queueConfig           QueueConfig
  remoteTimeout         string
  sendExemplars         boolean
  sigv4                 Sigv4
  tlsConfig             TlsConfig
  url                   string!
  writeRelabelConfigs   [Relabeling]
MetadataConfig
  maxSamplesPerSend     int32
  send                  boolean
  sendInterval          string
QueueConfig
  batchSendDeadline     string
  capacity              integer
  maxBackoff            string
  maxRetries            integer
  maxSamplesPerSend     integer
  maxShards             integer
  minBackoff            string
  minShards             integer
  retryOnRateLimit      boolean
Query
  lookbackDelta         string
  maxConcurrency        int32
  maxSamples            int32
  timeout               string
Rules
  alert                 AlertRules
AlertRules
  forGracePeriod        string
  forOutageTolerance    string
  resendDelay           string
ScrapeClass
  default               boolean
  metricRelabelings     [Relabeling]
  name                  string!
  relabelings           [Relabeling]
  tlsConfig             TlsConfig
Storage
  disableMountSubPath   boolean
  emptyDir              EmptyDirVolumeSource
  ephemeral             EphemeralVolumeSource
  volumeClaimTemplate   EmbeddedClaim
EmbeddedClaim
  apiVersion            string
  kind                  string
  metadata              EmbeddedMetadata
  spec                  PersistentVolumeClaimSpec
  status                PersistentVolumeClaimStatus
Thanos
  blockSize             string
  image                 string
  logLevel              string
  minTime               string
  objectStorageConfig   SecretKeySelector
  resources             ResourceRequirements
  volumeMounts          [VolumeMount]
Tracing
  clientType            string
  compression           string
  endpoint              string!
  headers               {string}
  insecure              boolean
  samplingFraction      quantity
  timeout               string
  tlsConfig             TlsConfig
Tsdb
  outOfOrderTimeWindow  string
Web
  httpConfig            HttpConfig
  maxConnections        int32
  pageTitle             string
  tlsConfig             WebTls
HttpConfig
  headers               Headers
  http2                 boolean
Headers
  contentSecurityPolicy string
  strictTransportSecurity string
  xFrameOptions         string
WebTls
  cert                  SecretOrConfigMap
  certFile              string
  cipherSuites          [string]
  clientAuthType        string
  keyFile               string
  keySecret             SecretKeySelector
  minVersion            string
"""

_DURATION: Final = {
    "pattern": r"^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$"
}
_BYTES: Final = {"pattern": "(^0|([0-9]*[.])?[0-9]+((K|M|G|T|E|P)i?)?B)$"}
_TLS_VERSIONS: Final = {"enum": ["TLS10", "TLS11", "TLS12", "TLS13"]}
_ACTIONS: Final = ["replace", "keep", "drop", "hashmod", "labelmap", "labeldrop", "labelkeep"]

RULES: Final[dict[str, Object]] = {
    "": {"required": ["spec"], "description": "A server that collects measurements."},
    "spec": {
        "x-kubernetes-validations": [
            {
                "rule": "!has(self.replicas) || !has(self.shards) || self.replicas * self.shards <= 100",
                "messageExpression": "self.shards > 10 ? 'too many shards' : 'too many servers'",
            },
            {
                "rule": "!has(self.retention) || !has(self.paused) || !self.paused",
                "message": "who is paused retains everything",
                "fieldPath": ".retention",
            },
        ]
    },
    "spec.additionalArgs[].name": {"minLength": 1},
    "spec.containers[].resources.limits{}": QUANTITY,
    "spec.containers[].resources.requests{}": QUANTITY,
    "spec.resources.limits{}": QUANTITY,
    "spec.resources.requests{}": QUANTITY,
    "spec.dnsPolicy": {"enum": ["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"]},
    "spec.enableFeatures[]": {"minLength": 1},
    "spec.enforcedBodySizeLimit": _BYTES,
    "spec.evaluationInterval": {**_DURATION, "default": "30s"},
    "spec.excludedFromEnforcement[].resource": {"enum": ["rules", "monitors", "probes"]},
    "spec.hostAliases[].hostnames": {"minItems": 1},
    "spec.imagePullPolicy": {"enum": ["", "Always", "Never", "IfNotPresent"]},
    "spec.logFormat": {"enum": ["", "logfmt", "json"]},
    "spec.logLevel": {"enum": ["", "debug", "info", "warn", "error"]},
    "spec.maximumStartupDurationSeconds": {"minimum": 60},
    "spec.podManagementPolicy": {"enum": ["OrderedReady", "Parallel"]},
    "spec.portName": {"default": "web"},
    "spec.query.maxConcurrency": {"minimum": 1},
    "spec.remoteRead[].remoteTimeout": _DURATION,
    "spec.remoteRead[].proxyUrl": {"pattern": "^(http|https|socks5)://.+$"},
    "spec.remoteWrite": {"maxItems": 5},
    "spec.remoteWrite[].url": {"minLength": 1, "format": "uri"},
    "spec.remoteWrite[].remoteTimeout": _DURATION,
    "spec.remoteWrite[].queueConfig.maxShards": {"minimum": 1},
    "spec.remoteWrite[].tlsConfig.minVersion": _TLS_VERSIONS,
    "spec.remoteWrite[].writeRelabelConfigs[].action": {"enum": _ACTIONS, "default": "replace"},
    "spec.remoteWrite[].oauth2.tokenUrl": {"minLength": 1},
    "spec.remoteWrite[].sigv4": {"nullable": True},
    "spec.replicas": {"minimum": 0, "default": 1},
    "spec.retention": _DURATION,
    "spec.retentionSize": _BYTES,
    "spec.scrapeClasses": {"maxItems": 4},
    "spec.scrapeClasses[].name": {"minLength": 1},
    "spec.scrapeInterval": {**_DURATION, "default": "30s", "description": "How often is looked."},
    "spec.scrapeProtocols": {"minItems": 1},
    "spec.scrapeProtocols[]": {"enum": ["PlainText", "OpenMetrics1", "Protobuf"]},
    "spec.shards": {"minimum": 1, "maximum": 50},
    "spec.storage": {
        "x-kubernetes-validations": [
            {
                "rule": "[has(self.emptyDir), has(self.ephemeral), has(self.volumeClaimTemplate)]"
                ".filter(given, given).size() <= 1",
                "message": "one sort of storage",
            }
        ]
    },
    "spec.thanos.blockSize": {**_DURATION, "default": "2h"},
    "spec.tracingConfig.clientType": {"enum": ["http", "grpc"]},
    "spec.tracingConfig.endpoint": {"minLength": 1},
    "spec.tracingConfig.samplingFraction": QUANTITY,
    "spec.tracingConfig.timeout": _DURATION,
    "spec.tsdb.outOfOrderTimeWindow": _DURATION,
    "spec.web.httpConfig.headers.xFrameOptions": {"enum": ["", "Deny", "SameOrigin"]},
    "spec.web.maxConnections": {"minimum": 0},
    "spec.alerting.alertmanagers[].name": {"minLength": 1},
    "spec.alerting.alertmanagers[].port": {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
    },
    "spec.alerting.alertmanagers[].scheme": {"enum": ["http", "https"]},
    "spec.alerting.alertmanagers[].apiVersion": {"enum": ["v1", "v2"]},
    "status.shardStatuses[].shardID": {"maxLength": 10},
    **CONDITIONS,
}

_COLUMNS: Final = (
    Column("Version", ".spec.version"),
    Column("Desired", ".spec.replicas", "integer"),
    Column("Ready", ".status.availableReplicas", "integer"),
    Column("Paused", ".status.paused", "boolean", priority=1),
    Column("Age", ".metadata.creationTimestamp", "date"),
)
_SCALE: Final = {
    "specReplicasPath": ".spec.shards",
    "statusReplicasPath": ".status.shards",
    "labelSelectorPath": ".status.selector",
}

MONITOR: Final = definition(
    GROUP,
    "Monitor",
    "monitors",
    Version("v1", TYPES, RULES, columns=_COLUMNS, scale=_SCALE, selectable=(".spec.version",)),
    shortNames=["mon"],
    categories=["watchers"],
)
