"""The configuration of a program that runs in a pod: its service account.

Kubelet mounts the token and the cluster's CA and replaces both while the pod runs, so both are files
that are read again.
"""

from collections.abc import Mapping
from pathlib import Path

from kubevirt.base.errors import ConfigError
from kubevirt.kube.access.config import Config
from kubevirt.kube.access.credentials import HeldCredentials
from kubevirt.kube.access.material import File
from kubevirt.kube.access.proxies import proxy_for

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def is_inside(env: Mapping[str, str]) -> bool:
    """Kubelet tells every container of a pod where the API is."""
    return bool(env.get("KUBERNETES_SERVICE_HOST") and env.get("KUBERNETES_SERVICE_PORT"))


def load(env: Mapping[str, str], folder: Path = SERVICE_ACCOUNT) -> Config:
    if not is_inside(env):
        raise ConfigError(
            "this is no pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set;"
            " name a kubeconfig file instead"
        )
    host, port = env["KUBERNETES_SERVICE_HOST"], env["KUBERNETES_SERVICE_PORT"]
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    config = Config(
        server=server,
        proxy_url=proxy_for(server, env),
        credentials=HeldCredentials(token=File(folder / "token", "service account token")),
        ca=File(folder / "ca.crt", "cluster CA"),
        namespace=_namespace(folder / "namespace"),
        origin=f"the service account in {folder}",
    )
    _require_mounted(folder)
    return config


def _require_mounted(folder: Path) -> None:
    for name in ("token", "ca.crt"):
        if not (folder / name).exists():
            raise ConfigError(
                f"this pod has no service account: {folder / name} is missing;"
                " set automountServiceAccountToken to true in the pod or its service account"
            )


def _namespace(path: Path) -> str:
    try:
        return path.read_text().strip() or "default"
    except OSError:
        return "default"
