"""Who may speak to a server for tests: its administrator, people with a certificate, service accounts; and kubectl
for any of them. It is the same whichever server it is.
"""

import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clusterup import api, certificates, kubeconfigs, pki, processes


@dataclass(frozen=True, kw_only=True)
class Known:
    """What is known of a server that runs."""

    url: str
    folder: Path
    """Everything of it; kubeconfigs of people come there, too."""
    kubeconfig: Path
    """For the administrator, with a client certificate."""
    trust: pki.Pki


class People(ABC):
    @abstractmethod
    def _known(self) -> Known:
        """Raises where it does not run."""

    @property
    @abstractmethod
    def kubectl(self) -> Path:
        """The program; `run_kubectl` calls it."""

    @property
    def kubeconfig(self) -> Path:
        """For the administrator, with a client certificate."""
        return self._known().kubeconfig

    @property
    def ca_file(self) -> Path:
        return self._known().trust.ca_file

    def client_certificate(
        self,
        user: str,
        groups: Sequence[str] = (),
        validity: certificates.Validity | None = None,
    ) -> certificates.Pair:
        """A certificate the API server takes for `user`; `Validity.expired()` makes one too old."""
        return self._known().trust.authority().client(user, groups, validity)

    def server_certificate(self, name: str, hosts: Sequence[str]) -> certificates.Pair:
        """A certificate for somebody whom the API server asks, such as a node."""
        return self._known().trust.authority().server(name, hosts)

    def kubeconfig_for(
        self,
        user: str,
        groups: Sequence[str] = (),
        validity: certificates.Validity | None = None,
    ) -> Path:
        """A kubeconfig with a client certificate."""
        return kubeconfigs.with_certificate(
            self._new_path(),
            server=self._known().url,
            authority=self.ca_file.read_bytes(),
            client=self.client_certificate(user, groups, validity),
        )

    async def service_account_token(
        self, namespace: str = "default", name: str = "default", *, seconds: int = 3600
    ) -> str:
        """A token for a service account that exists, good for that long (600 s is the least)."""
        answer = await self._admin.post(
            f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token",
            {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": {"expirationSeconds": seconds},
            },
        )
        return str(answer["status"]["token"])

    def kubeconfig_with_token(self, token: str) -> Path:
        return kubeconfigs.with_token(
            self._new_path(),
            server=self._known().url,
            authority=self.ca_file.read_bytes(),
            token=token,
        )

    async def run_kubectl(
        self,
        *words: str,
        stdin: str = "",
        kubeconfig: Path | None = None,
        check: bool = True,
    ) -> processes.Outcome:
        """Run kubectl as the administrator, or as whom `kubeconfig` says."""
        return await processes.run(
            self.kubectl,
            "--kubeconfig",
            kubeconfig or self.kubeconfig,
            *words,
            stdin=stdin,
            check=check,
            # kubectl keeps what it discovered under HOME, which must not be the user's own.
            env=processes.plain_environment(HOME=str(self._known().folder)),
        )

    @property
    def _admin(self) -> api.Api:
        return api.Api(self.kubeconfig)

    def _new_path(self) -> Path:
        descriptor, path = tempfile.mkstemp(
            dir=self._known().folder, prefix="user-", suffix=".kubeconfig"
        )
        os.close(descriptor)
        return Path(path)
