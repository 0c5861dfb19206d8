"""The command lines of etcd, API server, controller-manager and scheduler.

Data in, words out: nothing is started here, so that a light cluster and a whole one run the same
programs with the same settings and differ only in what they say they differ in.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clusterup import binaries, pki

SERVICE_CIDR = "10.96.0.0/16"
SERVICE_API = "10.96.0.1"
SERVICE_DNS = "10.96.0.10"
DOMAIN = "cluster.local"
FEATURE_GATES = "ImageVolume=true"
"""Image volumes are off by default in 1.34 and one way in which container disks come to a VM."""


@dataclass(frozen=True, kw_only=True)
class ControlPlane:
    """Where one control plane lives and how it differs from others."""

    programs: binaries.Binaries
    trust: pki.Pki
    folder: Path
    """Data and settings of the programs; belongs to this control plane alone."""
    address: str
    """Where the API server listens and is reached."""
    port: int
    etcd_port: int
    etcd_peer_port: int
    manager_port: int
    scheduler_port: int | None = None
    publishes_itself: bool
    """Whether the service `kubernetes` gets the API server's address as endpoint. It cannot where
    that is a loopback address, which Kubernetes refuses in endpoints."""
    aggregator_routing: bool
    """Whether calls to webhooks and aggregated APIs go to the endpoints of a service. Without it
    they go to its cluster address, or to its name when its type is ExternalName."""
    controllers: str = "*"
    is_durable: bool = False
    """Whether its data outlives the machine's crash. A test cluster outlives those of its programs
    only, and is faster for it."""
    more_api_flags: Mapping[str, str] = field(default_factory=dict)
    more_manager_flags: Mapping[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"https://{self.address}:{self.port}"

    @property
    def audit_log(self) -> Path:
        return self.folder / "audit.log"

    def prepare(self) -> None:
        """Write the files the programs read."""
        self.folder.mkdir(parents=True, exist_ok=True)
        policy = {
            "apiVersion": "audit.k8s.io/v1",
            "kind": "Policy",
            # One entry per request is enough to count writes; both would double the log.
            "omitStages": ["RequestReceived"],
            "rules": [{"level": "Metadata"}],
        }
        (self.folder / "audit-policy.json").write_text(json.dumps(policy))

    def etcd(self) -> list[str]:
        client = f"https://127.0.0.1:{self.etcd_port}"
        peer = f"http://127.0.0.1:{self.etcd_peer_port}"
        return _command(
            self.programs.path("etcd"),
            {
                "name": "default",
                "data-dir": str(self.folder / "etcd"),
                "listen-client-urls": client,
                "advertise-client-urls": client,
                "listen-peer-urls": peer,
                "initial-advertise-peer-urls": peer,
                "initial-cluster": f"default={peer}",
                "cert-file": self.trust.file("etcd.crt"),
                "key-file": self.trust.file("etcd.key"),
                "trusted-ca-file": self.trust.file("etcd-ca.crt"),
                "client-cert-auth": "true",
                # The gateway would have to show the server's certificate as a client's.
                "enable-grpc-gateway": "false",
                "unsafe-no-fsync": str(not self.is_durable).lower(),
                "log-level": "warn",
            },
        )

    def apiserver(self) -> list[str]:
        return _command(
            self.programs.path("kube-apiserver"),
            {
                **dict(self._api_addresses()),
                **self._api_storage(),
                **self._api_identity(),
                **self._api_aggregation(),
                "authorization-mode": "Node,RBAC",
                "enable-admission-plugins": "NodeRestriction",
                "allow-privileged": "true",
                "feature-gates": FEATURE_GATES,
                "audit-log-path": str(self.audit_log),
                "audit-policy-file": str(self.folder / "audit-policy.json"),
                "profiling": "false",
                **self.more_api_flags,
            },
        )

    def controller_manager(self, kubeconfig: Path) -> list[str]:
        return _command(
            self.programs.path("kube-controller-manager"),
            {
                **self._manager_common("controller-manager", kubeconfig, self.manager_port),
                "controllers": self.controllers,
                "service-account-private-key-file": self.trust.file("sa.key"),
                "root-ca-file": str(self.trust.ca_file),
                "cluster-signing-cert-file": str(self.trust.ca_file),
                "cluster-signing-key-file": self.trust.file("ca.key"),
                "use-service-account-credentials": "true",
                "allocate-node-cidrs": "false",
                "feature-gates": FEATURE_GATES,
                **self.more_manager_flags,
            },
        )

    def scheduler(self, kubeconfig: Path) -> list[str]:
        if self.scheduler_port is None:
            raise ValueError("this control plane has no scheduler")
        return _command(
            self.programs.path("kube-scheduler"),
            self._manager_common("scheduler", kubeconfig, self.scheduler_port),
        )

    def _manager_common(self, name: str, kubeconfig: Path, port: int) -> dict[str, str]:
        return {
            "kubeconfig": str(kubeconfig),
            "authentication-kubeconfig": str(kubeconfig),
            "authorization-kubeconfig": str(kubeconfig),
            "bind-address": "127.0.0.1",
            "secure-port": str(port),
            "tls-cert-file": self.trust.file(f"{name}.crt"),
            "tls-private-key-file": self.trust.file(f"{name}.key"),
            # There is never a second one, and an election costs seconds after each restart.
            "leader-elect": "false",
            # The defaults spread the first requests of all controllers over five seconds.
            "kube-api-qps": "500",
            "kube-api-burst": "1000",
            "profiling": "false",
        }

    def _api_addresses(self) -> Iterator[tuple[str, str]]:
        yield "bind-address", self.address
        yield "advertise-address", self.address
        yield "secure-port", str(self.port)
        yield "tls-cert-file", self.trust.file("apiserver.crt")
        yield "tls-private-key-file", self.trust.file("apiserver.key")
        yield "service-cluster-ip-range", SERVICE_CIDR
        if not self.publishes_itself:
            yield "endpoint-reconciler-type", "none"

    def _api_storage(self) -> dict[str, str]:
        return {
            "etcd-servers": f"https://127.0.0.1:{self.etcd_port}",
            "etcd-cafile": self.trust.file("etcd-ca.crt"),
            "etcd-certfile": self.trust.file("etcd-client.crt"),
            "etcd-keyfile": self.trust.file("etcd-client.key"),
        }

    def _api_identity(self) -> dict[str, str]:
        return {
            "client-ca-file": str(self.trust.ca_file),
            "service-account-issuer": f"https://kubernetes.default.svc.{DOMAIN}",
            "service-account-key-file": self.trust.file("sa.pub"),
            "service-account-signing-key-file": self.trust.file("sa.key"),
            "kubelet-client-certificate": self.trust.file("apiserver-kubelet-client.crt"),
            "kubelet-client-key": self.trust.file("apiserver-kubelet-client.key"),
            "kubelet-certificate-authority": str(self.trust.ca_file),
            # Nodes have no names that a resolver of this machine would know.
            "kubelet-preferred-address-types": "InternalIP",
        }

    def _api_aggregation(self) -> dict[str, str]:
        return {
            "requestheader-client-ca-file": self.trust.file("front-proxy-ca.crt"),
            "requestheader-allowed-names": "front-proxy-client",
            "requestheader-username-headers": "X-Remote-User",
            "requestheader-group-headers": "X-Remote-Group",
            "requestheader-extra-headers-prefix": "X-Remote-Extra-",
            "proxy-client-cert-file": self.trust.file("front-proxy-client.crt"),
            "proxy-client-key-file": self.trust.file("front-proxy-client.key"),
            "enable-aggregator-routing": str(self.aggregator_routing).lower(),
        }


def _command(program: Path, flags: Mapping[str, str]) -> list[str]:
    return [str(program), *(f"--{name}={value}" for name, value in flags.items())]
