"""Brings KubeVirt of this checkout into a whole cluster, or brings it up to date there.

    images        of virt-launcher and of the project's guests, into the cluster's registry
    objects       what `virt.install` says
    identities    an authority of the installation's own, certificates, a token for each service account
    programs      virt-api, virt-controller and virt-handlers, started anew beside the cluster

It does what virt-operator will do one day. Done again it changes what has changed: pods of guests are left
alone, and so guests go on while the programs that look after them are replaced.
"""

import asyncio
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clusterup import (
    api,
    certificates,
    components,
    errors,
    images,
    kubeconfigs,
    launcher_image,
    machines,
    network,
    pki,
    processes,
    progress,
    settings,
    state,
    waiting,
)
from kubevirt.base.clock import SystemClock
from kubevirt.base.errors import KubevirtError
from kubevirt.components.ground.installing import install
from kubevirt.components.handler.settings import CLIENT
from kubevirt.embedded.process import guests
from kubevirt.host import kvm
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client
from kubevirt.virt.commands import calls
from kubevirt.virt.install import front
from kubevirt.virt.install.options import NAMESPACE, Options, configuration

_REPOSITORY = settings.PROVIDERS.parent
_TOKEN_S = 365 * 24 * 3600
"""As long as the certificates beside it."""
_READY_LIMIT_S = 120.0
_ON_NODE = Path("/etc/kubevirt")


class Sync:
    """One run of it, on a cluster that is up."""

    def __init__(
        self,
        chosen: settings.Settings,
        found: state.State,
        control: machines.Machine,
        nodes: list[machines.Machine],
        say: progress.Progress,
    ) -> None:
        self._found = found
        self._control = control
        self._nodes = nodes
        self._say = say
        self._plan = network.Plan(found.network, len(found.nodes))
        self._folder = chosen.home / "kubevirt"
        self._trust = pki.Pki(control.folder / "pki")

    async def run(self) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        async with self._say.step("putting images into the registry"):
            launcher = await self._push_images()
        authority = _authority(self._folder)
        async with self._say.step("installing KubeVirt's objects"):
            await self._install(authority.pair.certificate)
        admin = api.Api(Path(self._found.kubeconfig))
        async with self._say.step("starting KubeVirt's programs"):
            every = list(self._components(launcher))
            for each in every:
                await self._write_identity(each, authority, admin)
            await admin.apply(_endpoints(self._plan.control_plane))
            were_there = [await each.restart() for each in every]
        async with self._say.step("waiting until guests can be started"):
            await self._until_ready(admin)
        names = ", ".join(f"{each.name} of {each.machine.name}" for each in every)
        done = "started anew" if all(were_there) else "started"
        self._say.say(f"{done}: {names}; launchers of new guests run in {launcher}")

    # Images

    async def _push_images(self) -> str:
        with tempfile.TemporaryDirectory() as scratch:
            helper = Path(scratch) / "container-disk"
            # It is a few lines of C, compiled in a moment and always the same.
            await processes.run(_REPOSITORY / "container-disk/build.sh", helper)
            image = await asyncio.to_thread(
                launcher_image.build, helper, Path(scratch) / "environment"
            )
        name = launcher_image.reference(image)
        await images.push(self._found.registry, name, image)
        for guest, known_as in _guests():
            await images.push(self._found.registry, known_as, guest)
        return name

    # Objects

    async def _install(self, authority: bytes) -> None:
        found = await kvm.acceleration(self._folder)
        chosen = configuration(is_emulated=not found.usable)
        config = kubeconfig.load([self._found.kubeconfig], os.environ)
        try:
            async with Client(config) as client:
                options = Options(authority=authority, configuration=chosen)
                await install(client, options, SystemClock())
        except KubevirtError as error:
            raise errors.Broken(f"KubeVirt could not be installed: {error}") from error

    # Programs

    def _components(self, launcher: str) -> Iterator[components.Component]:
        yield components.api(self._control, self._folder, self._plan.control_plane)
        yield components.controller(self._control, self._folder, launcher)
        for node in self._nodes:
            yield components.handler(node, _ON_NODE)

    async def _write_identity(
        self, each: components.Component, authority: certificates.Authority, admin: api.Api
    ) -> None:
        """Its kubeconfig, and what it shows to others. A virt-handler's token names its node, as that of a
        pod would: admission holds it to the guests there.
        """
        is_handler = each.machine is not self._control
        folder = each.machine.file(str(_ON_NODE)) if is_handler else self._folder
        folder.mkdir(mode=0o700, exist_ok=True)
        node = await _node_reference(admin, each.machine.name) if is_handler else None
        kubeconfigs.with_token(
            folder / f"{each.name}.kubeconfig",
            server=self._found.server,
            authority=self._trust.ca_file.read_bytes(),
            token=await _token(admin, each.account, node),
        )
        (folder / "ca.crt").write_bytes(authority.pair.certificate)
        host = f"{each.name}.{NAMESPACE}.svc"
        authority.server(host, [host]).write(folder, each.name)
        if each.name == front.NAME:
            authority.client(CLIENT).write(folder, "virt-api-calling")

    async def _until_ready(self, admin: api.Api) -> None:
        for version in calls.VERSIONS:
            path = f"/apis/apiregistration.k8s.io/v1/apiservices/{version}.{calls.GROUP}"

            async def is_served(path: str = path) -> bool:
                return _is_available(await admin.get(path))

            await waiting.until(is_served, limit_s=_READY_LIMIT_S, what=f"{version} of virt-api")
        for node in self._nodes:

            async def takes_guests(node: str = node.name) -> bool:
                found = await admin.get(f"/api/v1/nodes/{node}")
                labels: dict[str, str] = found["metadata"].get("labels", {})
                return labels.get("kubevirt.io/schedulable") == "true"

            await waiting.until(takes_guests, limit_s=_READY_LIMIT_S, what=f"guests on {node.name}")


def _authority(folder: Path) -> certificates.Authority:
    """Of this installation: made once, since the objects name it."""
    certificate, key = folder / "ca.crt", folder / "ca.key"
    if not key.exists():
        certificates.Authority.create("kubevirt.io").pair.write(folder, "ca")
    return certificates.Authority.load(certificate, key)


def _guests() -> Iterator[tuple[images.Image, str]]:
    """Those that `make guest-image` has built, by each of their names once."""
    known = set[tuple[str, str]]()
    for folder in guests.archives(os.environ):
        for archive in sorted(folder.glob("*.tar")) if folder.is_dir() else ():
            for name, image in images.read_archive(archive).items():
                if (place := images.repository(name)) not in known:
                    known.add(place)
                    yield image, name


def _endpoints(address: str) -> dict[str, Any]:
    """Where virt-api is: no pod that its Service could find by a label."""
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": f"{front.NAME}-beside-the-cluster",
            "namespace": NAMESPACE,
            "labels": {"kubernetes.io/service-name": front.NAME},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
        "ports": [{"name": "", "port": components.API_PORT, "protocol": "TCP"}],
    }


async def _node_reference(admin: api.Api, name: str) -> dict[str, str]:
    found = await admin.get(f"/api/v1/nodes/{name}")
    uid: str = found["metadata"]["uid"]
    return {"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}


async def _token(admin: api.Api, account: str, bound: dict[str, str] | None) -> str:
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token"
    spec: dict[str, Any] = {"expirationSeconds": _TOKEN_S}
    if bound:
        spec["boundObjectRef"] = bound
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    token: str = (await admin.post(path, body))["status"]["token"]
    return token


def _is_available(service: dict[str, Any]) -> bool:
    return any(
        each["type"] == "Available" and each["status"] == "True"
        for each in service.get("status", {}).get("conditions", [])
    )
