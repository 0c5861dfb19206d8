"""A place in which virt-api works: an API server that asks it, and a node whose virt-handler it asks.

The program is the real one, started as on Kubernetes: a port with TLS, certificates, and the rights of its own
service account. The server is a real kube-apiserver or the embedded one.
"""

import asyncio
import base64
import ssl
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from tests import tls_servers

from clusterup import certificates, ports, processes, waiting
from clusterup.light import LightCluster
from clusterup.light_embedded import EmbeddedServer
from kubevirt.api import crds
from kubevirt.api.core.admission import ServiceReference, WebhookClientConfig
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, NotFound
from kubevirt.virt import admission_paths
from kubevirt.virt.commands.calls import GROUP, VERSIONS
from kubevirt.virt.install import people, rights
from kubevirt.virt.install.options import Options

Json = dict[str, Any]

NODE = "node01"
GROUP_PATH = f"/apis/{GROUP}"
LIMIT_S = 60.0
WANTED = (
    "kubevirts.kubevirt.io",
    "virtualmachines.kubevirt.io",
    "virtualmachineinstances.kubevirt.io",
    "virtualmachineinstancemigrations.kubevirt.io",
)
ACCOUNT = "system:serviceaccount:kubevirt:kubevirt-apiserver"
ACCOUNT_GROUPS = (
    "system:serviceaccounts",
    "system:serviceaccounts:kubevirt",
    "system:authenticated",
)


class Place:
    def __init__(self, server: LightCluster | EmbeddedServer) -> None:
        self.server = server
        self.signer = certificates.Authority.create("kubevirt-ca")
        self._taken = [ports.take(), ports.take()]
        self.port, self.handler_port = (each.number for each in self._taken)
        self._files = tempfile.TemporaryDirectory(prefix="virt-api-test-")
        self.folder = Path(self._files.name)
        self._daemon: processes.Daemon | None = None

    # Life

    async def start(self) -> None:
        await self.server.start()
        async with self.client() as client:
            await self._install(client)
        self._start_program()
        async with self.client() as client:
            await self._registered(client)

    async def stop(self) -> None:
        try:
            if self._daemon:
                await self._daemon.stop()
                complaints = [each for each in self.log().splitlines() if _is_complaint(each)]
                assert not complaints, "\n".join(complaints)
        finally:
            await self.server.stop()
            for each in self._taken:
                each.release()
            self._files.cleanup()

    def client(self, config: Path | None = None) -> Client:
        return Client(kubeconfig.load([config or self.server.kubeconfig], {}))

    def log(self) -> str:
        return (self.folder / "virt-api.log").read_text()

    async def kill(self) -> None:
        """`kill -9` of virt-api."""
        assert self._daemon
        await self._daemon.kill()

    def start_again(self) -> None:
        assert self._daemon
        self._daemon.start()

    # What an installation consists of

    async def _install(self, client: Client) -> None:
        definitions = [each for each in crds.load() if each["metadata"]["name"] in WANTED]
        for each in definitions:
            await _post(client, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", each)
        await _post(client, "/api/v1/namespaces", {"metadata": {"name": "kubevirt"}})
        await self._give_rights(client)
        service = {"type": "ExternalName", "externalName": "localhost"}
        body = {"metadata": {"name": "virt-api"}, "spec": service}
        await _post(client, "/api/v1/namespaces/kubevirt/services", body)
        await self._node(client)
        for each in definitions:
            await waiting.until(
                lambda each=each: _is_served(client, each),  # type: ignore[misc]
                limit_s=LIMIT_S,
                what=f"{each['metadata']['name']} is served",
            )

    async def _give_rights(self, client: Client) -> None:
        """Those of an installation, and no others."""
        options = Options(authority=self.signer.pair.certificate)
        for each in (*rights.objects(options), *people.objects(options)):
            made = msgspec.to_builtins(each)
            version, namespace = made["apiVersion"], made["metadata"].get("namespace")
            base = f"/apis/{version}" if "/" in version else f"/api/{version}"
            within = f"/namespaces/{namespace}" if namespace else ""
            await _post(client, f"{base}{within}/{made['kind'].lower()}s", made)

    async def _node(self, client: Client) -> None:
        await _post(client, "/api/v1/nodes", {"metadata": {"name": NODE}})
        addresses = [{"type": "InternalIP", "address": "127.0.0.1"}]
        await client.raw(
            "PATCH",
            f"/api/v1/nodes/{NODE}/status",
            {"status": {"addresses": addresses}},
            content_type="application/merge-patch+json",
        )

    async def _registered(self, client: Client) -> None:
        for version in VERSIONS:
            await self._register_version(client, version)
        path = "/apis/admissionregistration.k8s.io/v1"
        mutating = msgspec.to_builtins(admission_paths.mutating(self._reach))
        validating = msgspec.to_builtins(admission_paths.validating(self._reach))
        await _post(client, f"{path}/mutatingwebhookconfigurations", mutating)
        await _post(client, f"{path}/validatingwebhookconfigurations", validating)
        await self.until_at_work(client)

    async def until_at_work(self, client: Client) -> None:
        for version in VERSIONS:
            name = f"/apis/apiregistration.k8s.io/v1/apiservices/{version}.{GROUP}"
            await waiting.until(
                lambda name=name: _is_available(client, name),  # type: ignore[misc]
                limit_s=LIMIT_S,
                what=f"{name} is available",
            )
        await waiting.until(
            lambda: _is_judged(client), limit_s=LIMIT_S, what="the webhooks are asked"
        )

    async def _register_version(self, client: Client, version: str) -> None:
        service = {"namespace": "kubevirt", "name": "virt-api", "port": self.port}
        spec = {
            "group": GROUP,
            "version": version,
            "groupPriorityMinimum": 1000,
            "versionPriority": 15,
            "service": service,
            "caBundle": self._bundle,
        }
        body = {"metadata": {"name": f"{version}.{GROUP}"}, "spec": spec}
        await _post(client, "/apis/apiregistration.k8s.io/v1/apiservices", body)

    def _reach(self, path: str) -> WebhookClientConfig:
        service = ServiceReference(name="virt-api", namespace="kubevirt", path=path, port=self.port)
        return WebhookClientConfig(service=service, ca_bundle=self._bundle)

    @property
    def _bundle(self) -> str:
        return base64.b64encode(self.signer.pair.certificate).decode()

    # The program

    def _start_program(self) -> None:
        own = self.signer.server("virt-api", ["virt-api.kubevirt.svc"])
        shown = self.signer.client("kubevirt.io:system:client:virt-handler")
        certificate, key = own.write(self.folder, "virt-api")
        client_certificate, client_key = shown.write(self.folder, "client")
        authority = self.folder / "ca.crt"
        authority.write_bytes(self.signer.pair.certificate)
        account = self.server.kubeconfig_for(ACCOUNT, ACCOUNT_GROUPS)
        argv = [sys.executable, "-W", "error", "-m", "kubevirt.components.virtapi.main"]
        argv += ["--kubeconfig", str(account), "--listen", "127.0.0.1", "--port", str(self.port)]
        argv += ["--tls-cert-file", str(certificate), "--tls-key-file", str(key)]
        argv += ["--console-server-port", str(self.handler_port)]
        argv += ["--handler-ca-file", str(authority)]
        argv += ["--handler-cert-file", str(client_certificate)]
        argv += ["--handler-key-file", str(client_key)]
        self._daemon = processes.Daemon("virt-api", argv, self.folder / "virt-api.log")
        self._daemon.start()

    # Its neighbours

    def stranger_context(self) -> ssl.SSLContext:
        """Of somebody in a virt-handler's place whose certificate is for another."""
        return self.handler_context("virt-launcher.kubevirt.svc")

    def handler_context(self, name: str = "virt-handler.kubevirt.svc") -> ssl.SSLContext:
        """Of a virt-handler: it lets nobody in but virt-api."""
        pair = self.signer.server("virt-handler", [name])
        return tls_servers.context_of(pair, clients=self.signer.pair.certificate)

    def door_context(self, shown: certificates.Pair | None = None) -> ssl.SSLContext:
        """For whoever comes to virt-api's own port."""
        context = ssl.create_default_context(cadata=self.signer.pair.certificate.decode())
        if shown:
            with tempfile.TemporaryDirectory() as folder:
                context.load_cert_chain(*shown.write(Path(folder), "client"))
        return context

    async def run_kubectl(self, *words: str, **more: Any) -> processes.Outcome:
        return await self.server.run_kubectl(*words, **more)


def _is_complaint(line: str) -> bool:
    """Of a bug. Whatever users do, there is none."""
    return '"level": "error"' in line or "Traceback" in line or "Warning" in line


async def _post(client: Client, path: str, body: Mapping[str, Any]) -> None:
    await client.raw("POST", path, body)


async def _is_served(client: Client, definition: Json) -> bool:
    spec = definition["spec"]
    versions = [each["name"] for each in spec["versions"]]
    try:
        for version in versions:
            path = f"/apis/{spec['group']}/{version}/{spec['names']['plural']}"
            await client.raw("GET", path)
    except NotFound:
        await asyncio.sleep(0.05)
        return False
    return True


async def _is_available(client: Client, path: str) -> bool:
    found = msgspec.json.decode(await client.raw("GET", path))
    conditions = found.get("status", {}).get("conditions", [])
    return any(each["type"] == "Available" and each["status"] == "True" for each in conditions)


async def _is_judged(client: Client) -> bool:
    """Whether a machine without a strategy is refused by now."""
    template = {"spec": {"domain": {"devices": {}, "memory": {"guest": "64Mi"}}}}
    body = {"metadata": {"name": "probe"}, "spec": {"template": template}}
    path = "/apis/kubevirt.io/v1/namespaces/default/virtualmachines"
    body = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", **body}
    migration = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstanceMigration",
        "metadata": {"name": "probe"},
        "spec": {"vmiName": "probe"},
    }
    other = "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstancemigrations"
    for where, what in ((path, body), (other, migration)):
        try:
            await client.raw("POST", where, what, params={"dryRun": "All"})
        except ApiError as error:
            if "denied the request" not in str(error):
                return False
        else:
            with suppress(NotFound):
                await client.raw("DELETE", f"{where}/probe")
            return False
    return True
