"""Machines and instances of a test, in a namespace of its own; instances are as the test says they are."""

from pathlib import Path
from typing import Any, Self

import msgspec
from tests.component.virtapi.place import GROUP_PATH, NODE, Place

from clusterup import waiting
from clusterup.processes import Outcome
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound

Json = dict[str, Any]
MERGE = "application/merge-patch+json"
DOMAIN: Json = {"devices": {}, "memory": {"guest": "64Mi"}}


class Machines:
    def __init__(self, place: Place, client: Client, namespace: str) -> None:
        self.place = place
        self.client = client
        self.namespace = namespace

    @classmethod
    async def create(cls, place: Place, client: Client) -> Self:
        body = {"metadata": {"generateName": "virtapi-"}}
        made = msgspec.json.decode(await client.raw("POST", "/api/v1/namespaces", body))
        namespace = made["metadata"]["name"]

        async def has_account() -> bool:
            path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
            try:
                await client.raw("GET", path)
            except NotFound:
                return False
            return True

        await waiting.until(has_account, limit_s=60, what="pods can be created")
        return cls(place, client, namespace)

    def path(self, resource: str, name: str = "", version: str = "v1") -> str:
        below = f"/apis/kubevirt.io/{version}/namespaces/{self.namespace}/{resource}"
        return f"{below}/{name}" if name else below

    def call(self, resource: str, name: str, what: str, version: str = "v1") -> str:
        return f"{GROUP_PATH}/{version}/namespaces/{self.namespace}/{resource}/{name}/{what}"

    async def get(self, resource: str, name: str) -> Json:
        found: Json = msgspec.json.decode(await self.client.raw("GET", self.path(resource, name)))
        return found

    async def machine(self, name: str = "testvm", **spec: Any) -> Json:
        body = {
            "apiVersion": "kubevirt.io/v1",
            "kind": "VirtualMachine",
            "metadata": {"name": name},
            "spec": {"template": {"spec": {"domain": DOMAIN}}, **spec},
        }
        made = await self.client.raw("POST", self.path("virtualmachines"), body)
        found: Json = msgspec.json.decode(made)
        return found

    async def instance(
        self,
        name: str = "testvm",
        owner: Json | None = None,
        *,
        spec: Json | None = None,
        **status: Any,
    ) -> Json:
        """One that runs, unless the status says otherwise."""
        metadata: Json = {"name": name}
        if owner:
            reference = {
                "apiVersion": "kubevirt.io/v1",
                "kind": "VirtualMachine",
                "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"],
                "controller": True,
            }
            metadata["ownerReferences"] = [reference]
        body = {
            "apiVersion": "kubevirt.io/v1",
            "kind": "VirtualMachineInstance",
            "metadata": metadata,
            "spec": {"domain": DOMAIN, **(spec or {})},
        }
        await self.client.raw("POST", self.path("virtualmachineinstances"), body)
        told = {"phase": "Running", "nodeName": NODE, **status}
        return await self.tell(name, **told)

    async def tell(self, name: str, **status: Any) -> Json:
        path = self.path("virtualmachineinstances", name)
        made = await self.client.raw("PATCH", path, {"status": status}, content_type=MERGE)
        found: Json = msgspec.json.decode(made)
        return found

    async def pod(self, vmi: Json, address: str) -> None:
        """Its launcher's."""
        meta = vmi["metadata"]
        reference = {
            "apiVersion": "kubevirt.io/v1",
            "kind": "VirtualMachineInstance",
            "name": meta["name"],
            "uid": meta["uid"],
            "controller": True,
        }
        body = {
            "metadata": {
                "name": f"virt-launcher-{meta['name']}",
                "labels": {"kubevirt.io/created-by": meta["uid"]},
                "ownerReferences": [reference],
            },
            "spec": {"containers": [{"name": "compute", "image": "launcher"}], "nodeName": NODE},
        }
        pods = f"/api/v1/namespaces/{self.namespace}/pods"
        await self.client.raw("POST", pods, body)
        status = {"podIP": address, "podIPs": [{"ip": address}], "phase": "Running"}
        path = f"{pods}/virt-launcher-{meta['name']}/status"
        await self.client.raw("PATCH", path, {"status": status}, content_type=MERGE)

    async def kubectl(self, *words: str, stdin: str = "", user: Path | None = None) -> Outcome:
        return await self.place.run_kubectl(
            "--namespace", self.namespace, *words, stdin=stdin, kubeconfig=user, check=False
        )

    async def put(self, path: str, body: str = "{}", user: Path | None = None) -> Outcome:
        """As kubectl puts."""
        return await self.kubectl("replace", "--raw", path, "-f", "-", stdin=body, user=user)
