"""The CRDs on a server: taken by plain `kubectl apply`, explained, and strict with manifests."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import upstream
from tests.contract.conftest import Server
from tests.contract.containment import holds

from clusterup.light import LightCluster
from clusterup.light_embedded import EmbeddedServer
from clusterup.pytest_plugin import session_loop
from kubevirt.api import crds, scheme
from kubevirt.api.definitions import DEFINITIONS
from kubevirt.kube.client import Client
from kubevirt.kube.errors import Invalid

ROOT = Path(__file__).parents[2]
CRD_FOLDER = Path(crds.__file__).parent
MANIFESTS = sorted((ROOT / "tests" / "manifests").glob("*.yaml"))
KINDS = {definition.resource.kind for definition in DEFINITIONS}

Kubectl = Callable[..., Awaitable[str]]


@pytest.fixture(scope="session")
def kubectl(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    """Runs kubectl and returns what it said. It must not remember a server without the CRDs."""
    assert isinstance(server, LightCluster | EmbeddedServer)
    cache = tmp_path_factory.mktemp("kubectl")

    async def run(*words: str, stdin: str = "", check: bool = True) -> str:
        outcome = await server.run_kubectl(f"--cache-dir={cache}", *words, stdin=stdin, check=check)
        return outcome.stdout + outcome.stderr

    return run


@pytest.fixture(scope="module")
def applied(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The CRDs as a user installs them: client-side, from the folder. They go with these tests: others who
    share the server look at all kinds that it has.
    """
    assert isinstance(server, LightCluster | EmbeddedServer)
    cache = f"--cache-dir={tmp_path_factory.mktemp('before')}"
    with session_loop() as loop:
        try:
            said = loop.run(server.run_kubectl(cache, "apply", "-f", str(CRD_FOLDER)))
            names = [f"crd/{definition.name}" for definition in DEFINITIONS]
            wait = (cache, "wait", "--for=condition=Established", "--timeout=100s", *names)
            while (waited := loop.run(server.run_kubectl(*wait, check=False))).code:
                # kubectl cannot wait for what Kubernetes has not looked at yet: conditions are a null.
                assert "accessor error" in waited.stderr, waited.stderr
            yield said.stdout + said.stderr
        finally:
            loop.run(
                server.run_kubectl(cache, "delete", "--ignore-not-found", "-f", str(CRD_FOLDER))
            )


def test_client_side_apply_creates_every_crd_without_a_warning(applied: str) -> None:
    assert applied.count(" created") + applied.count(" unchanged") == len(DEFINITIONS)
    assert "Warning" not in applied


async def test_a_second_apply_changes_nothing(applied: str, kubectl: Kubectl) -> None:
    again = await kubectl("apply", "-f", str(CRD_FOLDER))
    assert again.count(" unchanged") == len(DEFINITIONS)


async def test_every_crd_is_structural(applied: str, client: Client) -> None:
    for definition in DEFINITIONS:
        crd = await client.get(scheme.CUSTOM_RESOURCE_DEFINITIONS, definition.name)
        conditions = {each.type: each.status for each in crd.status.conditions}
        assert conditions["Established"] == conditions["NamesAccepted"] == "True"
        assert "NonStructuralSchema" not in conditions


async def test_short_names_and_categories_are_known(applied: str, kubectl: Kubectl) -> None:
    said = await kubectl("api-resources", "-o", "wide", "--no-headers")
    rows = {words[0]: words[1:] for line in said.splitlines() if (words := line.split())}
    for definition in DEFINITIONS:
        row = rows[definition.resource.plural]
        at = next(place for place, word in enumerate(row) if "/" in word)
        assert row[:at] == shown(definition.short_names)
        version, _, kind, _verbs, *rest = row[at:]
        assert (version.partition("/")[0], kind) == (
            definition.resource.group,
            definition.resource.kind,
        )
        assert rest == shown(definition.categories)


def shown(words: Sequence[str]) -> list[str]:
    """A column of kubectl's, which is empty rather than not there."""
    return [",".join(words)] if words else []


async def test_explain_reads_well(applied: str, kubectl: Kubectl) -> None:
    said = await kubectl("explain", "vm.spec.template.spec.domain.devices.disks")
    assert "KIND:       VirtualMachine" in said
    assert "FIELD: disks <[]Object>" in said
    assert "Place in the boot sequence, from 1; unique over disks and interfaces." in said
    assert "name\t<string> -required-" in said


async def test_every_kind_is_explained(applied: str, kubectl: Kubectl) -> None:
    for definition in DEFINITIONS:
        said = await kubectl("explain", f"{definition.name.partition('.')[0]}.spec")
        assert f"KIND:       {definition.resource.kind}\n" in said
        assert "FIELD: spec <Object>" in said
        assert "<no description>" not in said.partition("FIELDS:")[0]


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.stem)
async def test_a_manifest_is_kept_as_it_is_written(
    manifest: Path, applied: str, client: Client, namespace: str
) -> None:
    for document in documents(manifest):
        group, _, version = document["apiVersion"].rpartition("/")
        definition = next(
            each
            for each in DEFINITIONS
            if (each.resource.group, each.resource.kind) == (group, document["kind"])
        )
        resource = replace(definition.resource.raw, version=version)
        home = namespace if resource.namespaced else None
        name = f"{namespace}-{document['metadata']['name']}"
        metadata = {**document["metadata"], "name": name}
        metadata.pop("namespace", None)
        await client.create(resource, {**document, "metadata": metadata}, home)
        try:
            kept = await client.get(resource, name, home)
            assert holds(kept["spec"], document["spec"])
        finally:
            await client.delete(resource, name, home)


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.stem)
async def test_a_manifest_is_accepted_strictly(
    manifest: Path, applied: str, kubectl: Kubectl
) -> None:
    said = await kubectl("apply", "--dry-run=server", "--validate=strict", "-f", str(manifest))
    assert said.count("(server dry run)") == len(documents(manifest))


def documents(manifest: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(manifest.read_text()))


@upstream.needed
@pytest.mark.parametrize("example", upstream.examples(), ids=lambda path: path.stem)
async def test_an_example_of_upstream_is_accepted_strictly(
    example: Path, applied: str, kubectl: Kubectl
) -> None:
    ours = [each for each in documents(example) if each["kind"] in KINDS]
    if ours:
        manifests = yaml.safe_dump_all(ours)
        said = await kubectl(
            "apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin=manifests
        )
        assert said.count("(server dry run)") == len(ours)


async def test_an_unknown_field_is_named(applied: str, kubectl: Kubectl) -> None:
    said = await kubectl(
        *("apply", "--dry-run=server", "--validate=strict", "-f", "-"),
        stdin=a_vmi("typo", {"domain": {"devices": {}, "memry": {"guest": "64Mi"}}}),
        check=False,
    )
    assert 'unknown field "spec.domain.memry"' in said


async def test_an_old_version_is_served_with_a_warning(applied: str, kubectl: Kubectl) -> None:
    said = await kubectl(
        "apply",
        "--dry-run=server",
        "-f",
        str(ROOT / "tests/manifests/old-virtual-machine-instance.yaml"),
    )
    assert "Warning: kubevirt.io/v1alpha3 is now deprecated" in said


async def test_a_bad_value_is_refused_with_its_path(
    applied: str, client: Client, namespace: str
) -> None:
    with pytest.raises(Invalid) as refused:
        await client.create(
            scheme.CLONES.raw,
            {"metadata": {"name": "x"}, "spec": {"volumeNamePolicy": "Whatever"}},
            namespace,
        )
    assert "spec.volumeNamePolicy" in {cause.field for cause in refused.value.causes}


async def test_a_backup_cannot_change_its_mind(
    applied: str, client: Client, namespace: str, kubectl: Kubectl
) -> None:
    document = documents(ROOT / "tests/manifests/backup.yaml")[0]
    await client.create(scheme.BACKUP_TRACKERS.raw, document, namespace)
    said = await kubectl(
        *("-n", namespace, "patch", "vmbackuptracker", document["metadata"]["name"]),
        *("--type=merge", "-p", '{"spec":{"source":{"name":"another"}}}'),
        check=False,
    )
    assert "spec is immutable after creation" in said


async def test_a_typed_object_comes_back_as_it_was_written(
    applied: str, client: Client, namespace: str
) -> None:
    document = documents(ROOT / "tests/manifests/virtual-machine.yaml")[0]
    await client.create(scheme.VIRTUAL_MACHINES.raw, document, namespace)
    machine = await client.get(scheme.VIRTUAL_MACHINES, "orchard", namespace)
    raw = await client.get(scheme.VIRTUAL_MACHINES.raw, "orchard", namespace)
    assert machine.spec.template.spec is not None
    assert machine.spec.template.spec.domain.devices.disks[0].dedicated_io_thread is True
    assert raw["spec"] == document["spec"]


async def test_an_instance_has_no_status_subresource(
    applied: str, client: Client, namespace: str
) -> None:
    """Clients of KubeVirt write an instance's status with the object itself."""
    made = await client.create(
        scheme.VIRTUAL_MACHINE_INSTANCES.raw,
        {
            **yaml.safe_load(a_vmi("whole", {"domain": {"devices": {}}})),
            "status": {"phase": "Running"},
        },
        namespace,
    )
    assert made["status"]["phase"] == "Running"


async def test_scaling_a_pool_works(
    applied: str, client: Client, namespace: str, kubectl: Kubectl
) -> None:
    document = documents(ROOT / "tests/manifests/pool.yaml")[0]
    await client.create(scheme.POOLS.raw, document, namespace)
    await kubectl("-n", namespace, "scale", "vmpool/nursery", "--replicas=5")
    assert (await client.get(scheme.POOLS, "nursery", namespace)).spec.replicas == 5


def a_vmi(name: str, spec: dict[str, Any]) -> str:
    document = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance",
        "metadata": {"name": name},
        "spec": spec,
    }
    return str(yaml.safe_dump(document))
