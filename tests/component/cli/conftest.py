"""A real API server with our definitions, and behind its aggregation a stand-in for virt-api."""

import base64
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.component.cli.stand_in import GROUP, StandIn

from clusterup import waiting
from clusterup.light_embedded import EmbeddedServer
from clusterup.pytest_plugin import session_loop
from kubevirt.api import crds
from kubevirt.cli import main
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client

LIMIT_S = 60.0
INSTALLED = (
    "virtualmachines.kubevirt.io",
    "virtualmachineinstances.kubevirt.io",
    "virtualmachineinstancereplicasets.kubevirt.io",
    "kubevirts.kubevirt.io",
)
AUTHENTICATION = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
Json = dict[str, Any]


PATIENT = """
from kubevirt.cli import main
from kubevirt.cli.streams import relay
relay.relay.__kwdefaults__["linger_s"] = 3600.0
main.main()
"""

TIMEOUT_S = 300.0
"""The first test of a worker waits until there is a server."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those of one file stay together where tests are dealt out by groups: a server takes a while to start."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group(f"virtctl-{item.path.parent.name}"))
            item.add_marker(pytest.mark.timeout(TIMEOUT_S))


@dataclass
class Place:
    """Where the commands of a test go."""

    server: EmbeddedServer
    virt_api: StandIn
    namespace: str = "default"
    running: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def ask(self, method: str, path: str, body: Any = None, **how: Any) -> Any:
        """As the administrator, without virtctl."""

        async def asked() -> bytes:
            config = kubeconfig.load([self.server.kubeconfig], {})
            async with Client(config) as client:
                return await client.raw(method, path, body, **how)

        with session_loop() as loop:
            answer = loop.run(asked())
        return msgspec.json.decode(answer) if answer else None

    def path(self, plural: str, name: str = "") -> str:
        parts = ["/apis/kubevirt.io/v1/namespaces", self.namespace, plural, name]
        return "/".join(part for part in parts if part)

    def create(self, kind: str, name: str, **spec: Any) -> Json:
        """An object of ours, as little as a server takes."""
        plural = f"{kind.lower()}s"
        body = {
            "apiVersion": "kubevirt.io/v1",
            "kind": kind,
            "metadata": {"name": name},
            "spec": spec or _specs(kind),
        }
        found: Json = self.ask("POST", self.path(plural), body)
        return found

    def machine(self, name: str = "testvm", status: str = "Stopped") -> Json:
        made = self.create("VirtualMachine", name)
        self.tell_machine(name, status)
        return made

    def tell_machine(self, name: str, status: str) -> None:
        self.ask(
            "PATCH",
            f"{self.path('virtualmachines', name)}/status",
            {"status": {"printableStatus": status}},
            content_type="application/merge-patch+json",
        )

    def instance(self, name: str = "testvm", phase: str = "Running") -> Json:
        made = self.create("VirtualMachineInstance", name)
        self.tell_instance(name, {"phase": phase})
        return made

    def tell_instance(self, name: str, status: Json) -> None:
        self.ask(
            "PATCH",
            self.path("virtualmachineinstances", name),
            {"status": status},
            content_type="application/merge-patch+json",
        )

    def below(self, kind: str, name: str, subresource: str) -> str:
        """How the stand-in names a path."""
        plural = "virtualmachines" if kind == "vm" else "virtualmachineinstances"
        return f"{self.namespace}/{plural}/{name}/{subresource}"

    # virtctl.

    @property
    def common(self) -> list[str]:
        return ["--kubeconfig", str(self.server.kubeconfig), "-n", self.namespace]

    @property
    def env(self) -> dict[str, str]:
        """For a program of its own."""
        kept = {key: os.environ[key] for key in ("PATH", "PYTHONPATH") if key in os.environ}
        return {**kept, "HOME": str(self.server.folder), "KUBECONFIG": str(self.server.kubeconfig)}

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-W", "error", "-m", "kubevirt.cli", *words, *self.common]

    def start(self, *words: str, patient: bool = False, **how: Any) -> "subprocess.Popen[bytes]":
        """As a program of its own, which ends with the test at the latest. A patient one waits for late answers
        longer than any test does.
        """
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        argv = self.argv(*words)
        if patient:
            argv = [argv[0], "-c", PATIENT, *argv[argv.index("kubevirt.cli") + 1 :]]
        program = subprocess.Popen(argv, env=self.env, **{**pipes, **how})
        self.running.append(program)
        return program

    def end_all(self) -> None:
        for each in self.running:
            each.kill()
            each.communicate()


def _specs(kind: str) -> Json:
    domain = {"devices": {}, "memory": {"guest": "64Mi"}}
    if kind == "VirtualMachine":
        return {"runStrategy": "Halted", "template": {"spec": {"domain": domain}}}
    return {"domain": domain}


@pytest.fixture(scope="session")
def house() -> Iterator[Place]:
    """One for all tests of a worker; each has a namespace of its own in it."""
    server, stand_in = EmbeddedServer(), StandIn()
    with session_loop() as loop, ExitStack() as ending:
        loop.run(server.start())
        ending.callback(lambda: loop.run(server.stop()))
        place = Place(server, stand_in)
        found = place.ask("GET", AUTHENTICATION)
        front_proxy = str(found["data"]["requestheader-client-ca-file"]).encode()
        # The server ends before the stand-in, to which it keeps connections.
        with stand_in.serving(front_proxy), ending.pop_all():
            _furnish(place)
            yield place


def _furnish(place: Place) -> None:
    for definition in crds.load():
        if definition["metadata"]["name"] in INSTALLED:
            place.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    place.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "kubevirt"}})
    place.ask(
        "POST",
        "/api/v1/namespaces/kubevirt/services",
        {
            "metadata": {"name": "virt-api"},
            # Leads to the loopback address, where no endpoint may.
            "spec": {"type": "ExternalName", "externalName": "localhost"},
        },
    )
    place.ask(
        "POST",
        "/apis/apiregistration.k8s.io/v1/apiservices",
        {
            "metadata": {"name": f"v1.{GROUP}"},
            "spec": {
                "group": GROUP,
                "version": "v1",
                "groupPriorityMinimum": 1000,
                "versionPriority": 15,
                "service": {
                    "namespace": "kubevirt",
                    "name": "virt-api",
                    "port": place.virt_api.port,
                },
                "caBundle": base64.b64encode(place.virt_api.authority).decode(),
            },
        },
    )

    async def is_there() -> bool:
        config = kubeconfig.load([place.server.kubeconfig], {})
        async with Client(config) as client:
            path = f"/apis/apiregistration.k8s.io/v1/apiservices/v1.{GROUP}"
            found = msgspec.json.decode(await client.raw("GET", path))
            listed = msgspec.json.decode(await client.raw("GET", "/apis/kubevirt.io/v1"))
        conditions = found.get("status", {}).get("conditions") or [{}]
        return conditions[0].get("status") == "True" and len(listed["resources"]) > 4

    with session_loop() as loop:
        loop.run(waiting.until(is_there, limit_s=LIMIT_S, what="virt-api's stand-in is served"))


@pytest.fixture
def place(house: Place) -> Iterator[Place]:
    namespace = f"test-{secrets.token_hex(4)}"
    house.ask("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    made = Place(house.server, house.virt_api, namespace)
    try:
        yield made
    finally:
        made.virt_api.answers.clear()
        made.end_all()


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


Virtctl = Callable[..., Done]


@pytest.fixture
def virtctl(
    place: Place, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Virtctl:
    """As a person runs it, in this process: the flags lead to the test's own namespace."""
    monkeypatch.setenv("KUBECONFIG", str(place.server.kubeconfig))

    def run(*words: str, common: bool = True) -> Done:
        with pytest.raises(SystemExit) as ended:
            main.main([*words, *(place.common if common else [])])
        code = ended.value.code
        assert isinstance(code, int)
        said = capfd.readouterr()
        return Done(code, said.out, said.err)

    return run


@pytest.fixture
def users(house: Place) -> Callable[[str], Path]:
    """Kubeconfigs of people who are not administrators."""
    return house.server.kubeconfig_for
