"""The configuration that a program uses when nobody names one."""

from collections.abc import Mapping
from pathlib import Path

from kubevirt.base.errors import ConfigError
from kubevirt.kube.access import incluster, kubeconfig
from kubevirt.kube.access.config import Config


def find(
    env: Mapping[str, str],
    *,
    path: str | None = None,
    context: str | None = None,
    account: Path = incluster.SERVICE_ACCOUNT,
) -> Config:
    """As kubectl does: the given file, else KUBECONFIG, else ~/.kube/config, else the pod's own."""
    if path is not None:
        return kubeconfig.load([path], env, context=context)
    candidates = kubeconfig.default_paths(env)
    present = [candidate for candidate in candidates if Path(candidate).exists()]
    if present:
        return kubeconfig.load(present, env, context=context)
    if context is None and incluster.is_inside(env):
        return incluster.load(env, account)
    raise ConfigError(
        f"no Kubernetes configuration: there is no {' or '.join(candidates)}, and this is no pod;"
        " set KUBECONFIG to a kubeconfig file, or name one with --kubeconfig"
    )
