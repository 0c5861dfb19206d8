"""The cluster's DNS: CoreDNS beside the API server, behind the service `kube-dns`.

It is a process of the control plane and not a pod, so that names resolve as soon as the API server
answers and no image has to be there first. Pods cannot tell the difference.
"""

from typing import Any

from clusterup import binaries, controlplane, machines, network, pki

USER = "system:coredns"
READY_PORT = 8181


def start(
    machine: machines.Machine,
    plan: network.Plan,
    trust: pki.Pki,
    programs: binaries.Binaries,
    server: str,
) -> machines.Running:
    kubeconfig = trust.kubeconfig(trust.folder / "coredns.kubeconfig", server=server, user=USER)
    settings = machine.folder / "Corefile"
    settings.write_text(_settings(plan, str(kubeconfig)))
    return machine.spawn("coredns", [str(programs.path("coredns")), "-conf", str(settings)])


def _settings(plan: network.Plan, kubeconfig: str) -> str:
    # Names outside the cluster do not exist: there is no way out to look them up, and a quick no
    # is kinder to programs that try than a timeout.
    return f"""\
{controlplane.DOMAIN}:53 in-addr.arpa:53 {{
    bind {plan.control_plane}
    errors
    ready {plan.control_plane}:{READY_PORT}
    kubernetes {controlplane.DOMAIN} in-addr.arpa {{
        kubeconfig {kubeconfig}
        pods insecure
        ttl 5
    }}
    loadbalance
}}

.:53 {{
    bind {plan.control_plane}
    errors
    template ANY ANY {{
        rcode NXDOMAIN
    }}
}}
"""


def objects(plan: network.Plan) -> list[dict[str, Any]]:
    """What CoreDNS may read, and the service that pods ask."""
    ports = [
        {"name": "dns", "port": 53, "protocol": "UDP"},
        {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
    ]
    return [
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": USER},
            "rules": [
                {
                    "apiGroups": [""],
                    "resources": ["endpoints", "services", "pods", "namespaces"],
                    "verbs": ["list", "watch"],
                },
                {
                    "apiGroups": ["discovery.k8s.io"],
                    "resources": ["endpointslices"],
                    "verbs": ["list", "watch"],
                },
            ],
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": USER},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": USER,
            },
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER}],
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {
                "name": "kube-dns",
                "namespace": "kube-system",
                "labels": {"k8s-app": "kube-dns", "kubernetes.io/name": "CoreDNS"},
            },
            "spec": {"clusterIP": controlplane.SERVICE_DNS, "ports": ports},
        },
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "name": "kube-dns-control-plane",
                "namespace": "kube-system",
                "labels": {"kubernetes.io/service-name": "kube-dns"},
            },
            "addressType": "IPv4",
            "endpoints": [{"addresses": [plan.control_plane], "conditions": {"ready": True}}],
            "ports": ports,
        },
    ]
