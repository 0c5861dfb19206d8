"""Issuers and certificates, in the shape that certificate operators give them.

Much in them is one of several: an issuer is of one sort, a challenge is solved in one way, by one provider.
"""

from typing import Any, Final

from tests.contract.large.definitions import CONDITIONS, Column, Version, definition

Object = dict[str, Any]
GROUP: Final = "certs.example"

_REFERENCES: Final = """
SecretRef
  name                  string!
  key                   string
IssuerRef
  name                  string!
  kind                  string
  group                 string
"""

ISSUER_TYPES: Final = f"""
Spec
  acme                  Acme
  ca                    Ca
  selfSigned            SelfSigned
  vault                 Vault
  venafi                Venafi
Status
  acme                  AcmeStatus
  conditions            [Condition]
Ca
  secretName            string!
  crlDistributionPoints [string]
  ocspServers           [string]
SelfSigned
  crlDistributionPoints [string]
Acme
  server                string!
  email                 string
  preferredChain        string
  caBundle              bytes
  skipTLSVerify         boolean
  disableAccountKeyGeneration boolean
  enableDurationFeature boolean
  profile               string
  privateKeySecretRef   SecretRef!
  externalAccountBinding ExternalAccount
  solvers               [Solver]
AcmeStatus
  uri                   string
  lastRegisteredEmail   string
  lastPrivateKeyHash    string
ExternalAccount
  keyID                 string!
  keySecretRef          SecretRef!
  keyAlgorithm          string
Solver
  selector              SolverSelector
  http01                Http01
  dns01                 Dns01
SolverSelector
  dnsNames              [string]
  dnsZones              [string]
  matchLabels           {{string}}
Http01
  ingress               Ingress
  gatewayHTTPRoute      GatewayRoute
Ingress
  class                 string
  ingressClassName      string
  name                  string
  serviceType           string
  ingressTemplate       Template
  podTemplate           PodTemplate
Template
  metadata              TemplateMetadata
TemplateMetadata
  annotations           {{string}}
  labels                {{string}}
PodTemplate
  metadata              TemplateMetadata
  spec                  SolverPod
SolverPod
  affinity              Affinity
  imagePullSecrets      [LocalObjectReference] map(name)
  nodeSelector          {{string}}
  priorityClassName     string
  securityContext       PodSecurityContext
  resources             ResourceRequirements
  serviceAccountName    string
  tolerations           [Toleration]
GatewayRoute
  labels                {{string}}
  serviceType           string
  parentRefs            [ParentRef]
  podTemplate           PodTemplate
ParentRef
  group                 string ="gateway.example"
  kind                  string ="Gateway"
  name                  string!
  namespace             string
  port                  int32
  sectionName           string
Dns01
  cnameStrategy         string
  acmeDNS               AcmeDns
  akamai                Akamai
  azureDNS              AzureDns
  cloudDNS              CloudDns
  cloudflare            Cloudflare
  digitalocean          TokenProvider
  rfc2136               Rfc2136
  route53               Route53
  webhook               WebhookProvider
AcmeDns
  accountSecretRef      SecretRef!
  host                  string!
Akamai
  accessTokenSecretRef  SecretRef!
  clientSecretSecretRef SecretRef!
  clientTokenSecretRef  SecretRef!
  serviceConsumerDomain string!
AzureDns
  clientID              string
  clientSecretSecretRef SecretRef
  environment           string
  hostedZoneName        string
  managedIdentity       ManagedIdentity
  resourceGroupName     string!
  subscriptionID        string!
  tenantID              string
ManagedIdentity
  clientID              string
  resourceID            string
CloudDns
  hostedZoneName        string
  project               string!
  serviceAccountSecretRef SecretRef
Cloudflare
  apiKeySecretRef       SecretRef
  apiTokenSecretRef     SecretRef
  email                 string
TokenProvider
  tokenSecretRef        SecretRef!
Rfc2136
  nameserver            string!
  protocol              string
  tsigAlgorithm         string
  tsigKeyName           string
  tsigSecretSecretRef   SecretRef
Route53
  accessKeyID           string
  accessKeyIDSecretRef  SecretRef
  hostedZoneID          string
  region                string
  role                  string
  secretAccessKeySecretRef SecretRef
WebhookProvider
  config                any
  groupName             string!
  solverName            string!
Vault
  auth                  VaultAuth!
  caBundle              bytes
  caBundleSecretRef     SecretRef
  namespace             string
  path                  string!
  server                string!
  serverName            string
VaultAuth
  appRole               AppRole
  clientCertificate     ClientCertificate
  kubernetes            VaultKubernetes
  tokenSecretRef        SecretRef
AppRole
  path                  string!
  roleId                string!
  secretRef             SecretRef!
ClientCertificate
  mountPath             string
  name                  string
  secretName            string
VaultKubernetes
  mountPath             string
  role                  string!
  secretRef             SecretRef
  serviceAccountRef     ServiceAccountRef
ServiceAccountRef
  audiences             [string]
  name                  string!
Venafi
  cloud                 VenafiCloud
  tpp                   VenafiTpp
  zone                  string!
VenafiCloud
  apiTokenSecretRef     SecretRef!
  url                   string
VenafiTpp
  caBundle              bytes
  credentialsRef        SecretRef!
  url                   string!
{_REFERENCES}
"""


def _one_of(*names: str) -> list[Object]:
    return [{"required": [name]} for name in names]


ISSUER_CONDITIONS: Final[dict[str, Object]] = {
    "": {"required": ["spec"], "description": "Signs certificates."},
    "spec": {"oneOf": _one_of("acme", "ca", "selfSigned", "vault", "venafi")},
    "spec.acme": {
        "description": "An account at a server that speaks ACME.",
        "x-kubernetes-validations": [
            {
                "rule": "!has(self.skipTLSVerify) || !self.skipTLSVerify || !has(self.caBundle)",
                "message": "a bundle of authorities is of no use when nobody is verified",
            }
        ],
    },
    "spec.acme.server": {"format": "uri", "maxLength": 200},
    "spec.acme.email": {"format": "email"},
    "spec.acme.preferredChain": {"maxLength": 64},
    "spec.acme.solvers": {"maxItems": 8},
    "spec.acme.solvers[]": {"oneOf": _one_of("http01", "dns01")},
    "spec.acme.externalAccountBinding.keyAlgorithm": {"enum": ["HS256", "HS384", "HS512"]},
    "spec.acme.solvers[].http01": {"oneOf": _one_of("ingress", "gatewayHTTPRoute")},
    "spec.acme.solvers[].http01.ingress": {
        "not": {"required": ["class", "ingressClassName"]},
    },
    "spec.acme.solvers[].http01.ingress.serviceType": {"enum": ["ClusterIP", "NodePort"]},
    "spec.acme.solvers[].http01.gatewayHTTPRoute.parentRefs": {"minItems": 1, "maxItems": 4},
    "spec.acme.solvers[].http01.gatewayHTTPRoute.parentRefs[].port": {
        "minimum": 1,
        "maximum": 65535,
    },
    "spec.acme.solvers[].http01.gatewayHTTPRoute.parentRefs[].group": {
        "pattern": r"^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
    },
    "spec.acme.solvers[].dns01": {
        "minProperties": 1,
        "maxProperties": 2,
        "anyOf": _one_of(
            *("acmeDNS", "akamai", "azureDNS", "cloudDNS", "cloudflare"),
            *("digitalocean", "rfc2136", "route53", "webhook"),
        ),
    },
    "spec.acme.solvers[].dns01.cnameStrategy": {"enum": ["None", "Follow"], "default": "None"},
    "spec.acme.solvers[].dns01.azureDNS.environment": {"enum": ["Public", "Private", "Government"]},
    "spec.acme.solvers[].dns01.cloudflare": {
        "anyOf": _one_of("apiKeySecretRef", "apiTokenSecretRef")
    },
    "spec.acme.solvers[].dns01.rfc2136.protocol": {"enum": ["TCP", "UDP"], "default": "UDP"},
    **{
        f"spec.acme.solvers[].http01.{way}.podTemplate.spec.imagePullSecrets[].name": {
            "default": ""
        }
        for way in ("ingress", "gatewayHTTPRoute")
    },
    "spec.vault.server": {"pattern": "^https?://"},
    "spec.vault.auth": {"minProperties": 1, "maxProperties": 1},
    "spec.venafi": {"oneOf": _one_of("cloud", "tpp")},
    **CONDITIONS,
}

ISSUER: Final = definition(
    GROUP,
    "Issuer",
    "issuers",
    Version(
        "v1",
        ISSUER_TYPES,
        ISSUER_CONDITIONS,
        columns=(
            Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
            Column("Status", '.status.conditions[?(@.type=="Ready")].message', priority=1),
            Column("Age", ".metadata.creationTimestamp", "date"),
        ),
    ),
    shortNames=["iss"],
    categories=["certs"],
)

CERTIFICATE_TYPES: Final = f"""
Spec
  additionalOutputFormats [OutputFormat] map(type)
  commonName            string
  dnsNames              [string]
  duration              string
  emailAddresses        [string] set
  encodeUsagesInRequest boolean
  ipAddresses           [string]
  isCA                  boolean
  issuerRef             IssuerRef!
  keystores             Keystores
  literalSubject        string
  nameConstraints       NameConstraints
  otherNames            [OtherName]
  privateKey            PrivateKey
  renewBefore           string
  renewBeforePercentage int32
  revisionHistoryLimit  int32
  secretName            string!
  secretTemplate        SecretTemplate
  signatureAlgorithm    string
  subject               Subject
  uris                  [string]
  usages                [string] set
Status
  conditions            [Condition]
  failedIssuanceAttempts integer
  lastFailureTime       time
  nextPrivateKeySecretName string
  notAfter              time
  notBefore             time
  renewalTime           time
  revision              integer
OutputFormat
  type                  string!
OtherName
  oid                   string
  utf8Value             string
Keystores
  jks                   Keystore
  pkcs12                Keystore
Keystore
  alias                 string
  create                boolean!
  password              string
  passwordSecretRef     SecretRef
  profile               string
NameConstraints
  critical              boolean
  excluded              Names
  permitted             Names
Names
  dnsDomains            [string]
  emailAddresses        [string]
  ipRanges              [string]
  uriDomains            [string]
PrivateKey
  algorithm             string
  encoding              string
  rotationPolicy        string
  size                  integer
SecretTemplate
  annotations           {{string}}
  labels                {{string}}
Subject
  countries             [string]
  localities            [string]
  organizationalUnits   [string]
  organizations         [string]
  postalCodes           [string]
  provinces             [string]
  serialNumber          string
  streetAddresses       [string]
{_REFERENCES}
"""

_USAGES: Final = [
    *(
        "signing",
        "digital signature",
        "content commitment",
        "key encipherment",
        "data encipherment",
    ),
    *("key agreement", "cert sign", "crl sign", "server auth", "client auth", "code signing"),
]
_DURATION: Final = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"

CERTIFICATE: Final = definition(
    GROUP,
    "Certificate",
    "certificates",
    Version(
        "v1",
        CERTIFICATE_TYPES,
        {
            "": {"required": ["spec"], "description": "A certificate that is kept fresh."},
            "spec": {
                "x-kubernetes-validations": [
                    {
                        "rule": "has(self.commonName) || has(self.literalSubject)"
                        " || (has(self.dnsNames) && self.dnsNames.size() > 0)"
                        " || (has(self.uris) && self.uris.size() > 0)",
                        "message": "it must certify something",
                    },
                    {
                        "rule": "!(has(self.renewBefore) && has(self.renewBeforePercentage))",
                        "messageExpression": "'either renewBefore (' + self.renewBefore + ') or a percentage'",
                        "fieldPath": ".renewBeforePercentage",
                        "reason": "FieldValueForbidden",
                    },
                    {
                        "rule": "self.secretName == oldSelf.secretName",
                        "message": "the secret stays where it is",
                        "fieldPath": ".secretName",
                    },
                ],
            },
            "spec.commonName": {"maxLength": 64, "description": "Whom it is for, in short."},
            "spec.literalSubject": {"maxLength": 100},
            "spec.dnsNames": {"maxItems": 20},
            "spec.dnsNames[]": {"maxLength": 253, "minLength": 1},
            "spec.uris": {"maxItems": 20},
            "spec.ipAddresses[]": {"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]},
            "spec.emailAddresses[]": {"format": "email"},
            "spec.duration": {"pattern": _DURATION, "default": "2160h"},
            "spec.renewBefore": {"pattern": _DURATION, "maxLength": 20},
            "spec.renewBeforePercentage": {"minimum": 1, "maximum": 99},
            "spec.revisionHistoryLimit": {"minimum": 1, "default": 1},
            "spec.secretName": {"minLength": 1, "maxLength": 253},
            "spec.issuerRef.kind": {"default": "Issuer", "enum": ["Issuer", "ClusterIssuer"]},
            "spec.issuerRef.group": {"default": GROUP},
            "spec.usages[]": {"enum": _USAGES},
            "spec.privateKey": {
                "default": {},
                "x-kubernetes-validations": [
                    {
                        "rule": "self.algorithm != 'Ed25519' || !has(self.size)",
                        "message": "Ed25519 has one size",
                        "reason": "FieldValueForbidden",
                        "fieldPath": ".size",
                    },
                    {
                        "rule": "self.algorithm != 'RSA' || !has(self.size) || self.size >= 2048",
                        "messageExpression": "self.size < 1024 ? 'RSA this short is a toy' : 'RSA is too weak'",
                    },
                ],
            },
            "spec.privateKey.algorithm": {
                "enum": ["RSA", "ECDSA", "Ed25519"],
                "default": "RSA",
            },
            "spec.privateKey.encoding": {"enum": ["PKCS1", "PKCS8"], "default": "PKCS1"},
            "spec.privateKey.rotationPolicy": {"enum": ["Never", "Always"]},
            "spec.privateKey.size": {"multipleOf": 8, "maximum": 8192},
            "spec.additionalOutputFormats[].type": {"enum": ["DER", "CombinedPEM"]},
            "spec.keystores.jks": {
                "oneOf": [{"required": ["password"]}, {"required": ["passwordSecretRef"]}]
            },
            "spec.keystores.pkcs12.profile": {
                "enum": ["LegacyRC2", "LegacyDES", "Modern2023"],
                "nullable": True,
            },
            "spec.nameConstraints.permitted.ipRanges[]": {"format": "cidr"},
            "spec.otherNames[].oid": {"pattern": r"^[0-9]+(\.[0-9]+)+$"},
            "spec.secretTemplate.labels{}": {"maxLength": 63},
            **CONDITIONS,
        },
        columns=(
            Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
            Column("Secret", ".spec.secretName"),
            Column("Issuer", ".spec.issuerRef.name", priority=1),
            Column("Names", ".spec.dnsNames", priority=1),
            Column("Age", ".metadata.creationTimestamp", "date"),
        ),
        selectable=(".spec.issuerRef.name", ".spec.secretName"),
    ),
    shortNames=["cert", "certs"],
    categories=["certs"],
)
