"""The files of a control plane's trust: which authority signs what, and where it lies.

Three authorities, because each answers another question: who may speak to the API server (`ca`),
who may speak in another user's name to an aggregated API (`front-proxy-ca`), and who may read and
write the store past all rules (`etcd-ca`).
"""

from collections.abc import Sequence
from pathlib import Path

from clusterup import certificates, kubeconfigs

ADMIN_GROUP = "system:masters"
_SERVICE_NAMES = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "localhost",
    "127.0.0.1",
)


class Pki:
    """A folder of certificates and kubeconfigs, made once per cluster."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def ca_file(self) -> Path:
        return self.folder / "ca.crt"

    def file(self, name: str) -> str:
        """The path of one file, as a word for a command line."""
        return str(self.folder / name)

    @classmethod
    def create(cls, folder: Path, *, server_names: Sequence[str]) -> "Pki":
        """Make the authorities and what the control plane's own programs show each other."""
        folder.mkdir(mode=0o700, parents=True)
        ca = certificates.Authority.create("kubernetes-ca")
        front = certificates.Authority.create("front-proxy-ca")
        store = certificates.Authority.create("etcd-ca")
        pairs = {
            "ca": ca.pair,
            "front-proxy-ca": front.pair,
            "etcd-ca": store.pair,
            "front-proxy-client": front.client("front-proxy-client"),
            "etcd": store.server("etcd", ["localhost", "127.0.0.1"]),
            "etcd-client": store.client("kube-apiserver"),
            "apiserver": ca.server("kube-apiserver", [*_SERVICE_NAMES, *server_names]),
            "apiserver-kubelet-client": ca.client("kube-apiserver-kubelet-client"),
            "controller-manager": ca.server("kube-controller-manager", ["localhost", "127.0.0.1"]),
            "scheduler": ca.server("kube-scheduler", ["localhost", "127.0.0.1"]),
        }
        for name, pair in pairs.items():
            pair.write(folder, name)
        key = certificates.signing_key()
        certificates.write_secret(folder / "sa.key", key)
        (folder / "sa.pub").write_bytes(certificates.public_half(key))
        return cls(folder)

    def authority(self) -> certificates.Authority:
        return certificates.Authority.load(self.ca_file, self.folder / "ca.key")

    def kubeconfig(
        self,
        path: Path,
        *,
        server: str,
        user: str,
        groups: Sequence[str] = (),
        validity: certificates.Validity | None = None,
    ) -> Path:
        """Write a kubeconfig for a user of this cluster."""
        return kubeconfigs.with_certificate(
            path,
            server=server,
            authority=self.ca_file.read_bytes(),
            client=self.authority().client(user, groups, validity),
        )
