"""Settings: what the environment says, read once, checked once.

| variable                 | meaning                                                   | default |
|--------------------------|-----------------------------------------------------------|---------|
| KUBE_PROVIDER            | which cluster                                             | embedded |
| KUBEVIRT_NUM_NODES       | how many nodes                                            | 1 |
| KUBEVIRT_CACHE           | where built programs are kept                             | $XDG_CACHE_HOME/kubevirt-py |
| KUBEVIRT_CLUSTER_UP_HOME | where a running cluster keeps its state, one folder each  | /var/lib/kubevirt-cluster-up |
| KUBEVIRT_CLUSTER_NAME    | a name, to have more than one cluster at a time           | the provider's |
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from clusterup import errors

EMBEDDED = "embedded"
"""This project's own Kubernetes for one machine, as `virtctl up` starts it."""
KUBERNETES = "k8s-1.34"
"""The real one, which the embedded one is held against."""
MOST_NODES = 8
"""Each node is a kubelet, a container runtime and a proxy: about 250 MB before the first pod."""
PROVIDERS = Path(__file__).resolve().parent.parent
"""The folder whose sub-folders are providers."""
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,30}[a-z0-9])?")


@dataclass(frozen=True, kw_only=True)
class Settings:
    provider: str
    nodes: int
    cache: Path
    home: Path
    """The folder of this one cluster."""
    name: str

    @property
    def provider_folder(self) -> Path:
        return PROVIDERS / self.provider


def from_environment(environ: Mapping[str, str]) -> Settings:
    provider = environ.get("KUBE_PROVIDER") or EMBEDDED
    name = environ.get("KUBEVIRT_CLUSTER_NAME") or provider
    if not _NAME.fullmatch(name):
        raise errors.ClusterError(
            f"KUBEVIRT_CLUSTER_NAME={name!r} cannot name a cluster, because the name becomes part of "
            "folders and links; use up to 32 small letters, digits, dots and hyphens"
        )
    return Settings(
        provider=provider,
        nodes=_nodes(environ.get("KUBEVIRT_NUM_NODES") or "1"),
        cache=cache_folder(environ),
        home=Path(environ.get("KUBEVIRT_CLUSTER_UP_HOME") or "/var/lib/kubevirt-cluster-up") / name,
        name=name,
    )


def cache_folder(environ: Mapping[str, str]) -> Path:
    if chosen := environ.get("KUBEVIRT_CACHE"):
        return Path(chosen)
    base = environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "kubevirt-py"


def _nodes(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_NODES:
        raise errors.ClusterError(
            f"KUBEVIRT_NUM_NODES={text} is no number of nodes this machine can have; "
            f"give a whole number from 1 to {MOST_NODES}"
        )
    return int(text)
