"""The light cluster: a real API server for the contract suite."""

import asyncio
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from tests import tls_servers
from tests.strangers import NOBODY, as_somebody_else

from clusterup import binaries, certificates, errors, light, processes, settings, waiting
from clusterup.light import LightCluster
from kubevirt.base import commands

# Several clusters start in here, and a busy machine takes its time for each.
pytestmark = pytest.mark.timeout(600)

Start = Callable[..., Awaitable[LightCluster]]


@pytest.fixture
def namespace() -> str:
    return f"test-{uuid.uuid4().hex[:10]}"


async def apply(cluster: LightCluster, *objects: dict[str, Any]) -> None:
    for one in objects:
        await cluster.run_kubectl("apply", "-f", "-", stdin=json.dumps(one))


async def who_am_i(cluster: LightCluster, kubeconfig: Path) -> dict[str, Any]:
    said = await cluster.run_kubectl("auth", "whoami", "-o", "json", kubeconfig=kubeconfig)
    user: dict[str, Any] = json.loads(said.stdout)["status"]["userInfo"]
    return user


def named(kind: str, name: str, **rest: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **rest}


async def test_it_is_the_kubernetes_of_its_provider(light_cluster: LightCluster) -> None:
    version = json.loads((await light_cluster.run_kubectl("get", "--raw", "/version")).stdout)
    assert version["gitVersion"].startswith("v1.34.")
    assert (version["major"], version["minor"]) == ("1", "34")


async def test_objects_survive_a_killed_api_server(
    light_cluster: LightCluster, namespace: str
) -> None:
    await apply(light_cluster, named("Namespace", namespace))
    await light_cluster.kill_apiserver()
    try:
        assert (await light_cluster.run_kubectl("get", "ns", namespace, check=False)).code != 0
    finally:
        await light_cluster.start_apiserver()
    await light_cluster.run_kubectl("get", "ns", namespace)


async def test_objects_survive_a_restart_of_etcd(
    light_cluster: LightCluster, namespace: str
) -> None:
    await apply(light_cluster, named("Namespace", namespace))
    await light_cluster.restart_etcd()
    await light_cluster.run_kubectl("get", "ns", namespace)
    await apply(light_cluster, named("Namespace", f"{namespace}-after"))


async def test_two_at_once_are_strangers(
    light_cluster: LightCluster, start_light_cluster: Start, namespace: str
) -> None:
    other = await start_light_cluster()
    await apply(light_cluster, named("Namespace", namespace))
    answer = await other.run_kubectl("get", "ns", namespace, check=False)
    assert "NotFound" in answer.stderr
    stranger = await light_cluster.run_kubectl("--server", other.url, "get", "ns", check=False)
    assert "certificate" in stranger.stderr


async def test_a_client_certificate_carries_user_and_groups(light_cluster: LightCluster) -> None:
    user = await who_am_i(light_cluster, light_cluster.kubeconfig_for("jane", ["ops", "dev"]))
    assert user["username"] == "jane"
    assert {"ops", "dev"} <= set(user["groups"])


async def test_an_expired_certificate_is_refused(light_cluster: LightCluster) -> None:
    kubeconfig = light_cluster.kubeconfig_for("jane", validity=certificates.Validity.expired())
    answer = await light_cluster.run_kubectl("get", "ns", kubeconfig=kubeconfig, check=False)
    assert answer.code != 0
    assert "Unauthorized" in answer.stderr or "logged in" in answer.stderr


async def test_a_service_account_token_speaks_for_its_account(light_cluster: LightCluster) -> None:
    token = await light_cluster.service_account_token("default", "default")
    user = await who_am_i(light_cluster, light_cluster.kubeconfig_with_token(token))
    assert user["username"] == "system:serviceaccount:default:default"


async def test_a_user_without_a_role_may_do_nothing(light_cluster: LightCluster) -> None:
    kubeconfig = light_cluster.kubeconfig_for("nobody-in-particular")
    answer = await light_cluster.run_kubectl("get", "secrets", kubeconfig=kubeconfig, check=False)
    assert "Forbidden" in answer.stderr


async def test_a_write_is_in_the_audit_log_when_it_is_answered(
    light_cluster: LightCluster, namespace: str
) -> None:
    await apply(light_cluster, named("Namespace", namespace))
    writes = [
        event
        for event in light_cluster.audit_events()
        if event["verb"] == "create" and event["objectRef"].get("name") == namespace
    ]
    assert [(w["level"], w["user"]["username"]) for w in writes] == [
        ("Metadata", "kubernetes-admin")
    ]


async def test_lists_can_be_streamed(light_cluster: LightCluster) -> None:
    query = (
        "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
        "&allowWatchBookmarks=true&timeoutSeconds=300"
    )
    words = (
        "--kubeconfig",
        light_cluster.kubeconfig,
        "get",
        "--raw",
        f"/api/v1/namespaces?{query}",
    )
    seen: list[dict[str, Any]] = []
    async with commands.stream(str(light_cluster.kubectl), *words, timeout_s=300) as lines:
        async for line in lines:
            seen.append(json.loads(line))
            if seen[-1]["type"] == "BOOKMARK":
                break
    *listed, end = (event["object"]["metadata"] for event in seen)
    assert "default" in {one["name"] for one in listed}
    assert end["annotations"]["k8s.io/initial-events-end"] == "true"


async def test_pods_may_have_image_volumes(light_cluster: LightCluster, namespace: str) -> None:
    pod = named(
        "Pod",
        "disk",
        spec={
            "containers": [{"name": "c", "image": "i"}],
            "volumes": [{"name": "disk", "image": {"reference": "quay.io/example/disk:1"}}],
        },
    )
    pod["metadata"]["namespace"] = namespace
    await apply(light_cluster, named("Namespace", namespace))
    await until_service_account(light_cluster, namespace)
    await apply(light_cluster, pod)
    said = await light_cluster.run_kubectl("get", "pod", "disk", "-n", namespace, "-o", "json")
    assert json.loads(said.stdout)["spec"]["volumes"][0]["image"]["reference"]


async def until_service_account(cluster: LightCluster, namespace: str) -> None:
    async def there() -> bool:
        words = ("get", "serviceaccount", "default", "-n", namespace)
        return (await cluster.run_kubectl(*words, check=False)).code == 0

    await waiting.until(there, limit_s=100, what=f"the service account of {namespace}")


async def test_deleting_an_owner_deletes_what_it_owns(
    light_cluster: LightCluster, namespace: str
) -> None:
    await apply(light_cluster, named("Namespace", namespace))
    owner = named("ConfigMap", "owner")
    owner["metadata"]["namespace"] = namespace
    await apply(light_cluster, owner)
    uid = (
        await light_cluster.run_kubectl(
            "get", "cm", "owner", "-n", namespace, "-o", "jsonpath={.metadata.uid}"
        )
    ).stdout
    owned = named("ConfigMap", "owned")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}
    owned["metadata"] |= {"namespace": namespace, "ownerReferences": [reference]}
    await apply(light_cluster, owned)
    await light_cluster.run_kubectl("delete", "cm", "owner", "-n", namespace)
    await light_cluster.run_kubectl(
        "wait", "--for=delete", "cm/owned", "-n", namespace, "--timeout=100s"
    )


@asynccontextmanager
async def aggregated_server(cluster: LightCluster) -> AsyncIterator[tuple[int, list[web.Request]]]:
    """An HTTPS server that answers like an aggregated API and remembers who asked."""
    authority = certificates.Authority.load(cluster.ca_file, cluster.folder / "pki" / "ca.key")
    # The API server expects the service's name, wherever the service leads.
    pair = authority.server("aggregated", ["aggregated.default.svc"])
    paths = pair.write(cluster.folder, "aggregated")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*paths)
    tls.load_verify_locations(cluster.folder / "pki" / "front-proxy-ca.crt")
    tls.verify_mode = ssl.CERT_REQUIRED
    seen: list[web.Request] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append(request)
        return web.json_response(
            {"kind": "APIResourceList", "groupVersion": "test.example/v1", "resources": []}
        )

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", answer)
    async with tls_servers.serving(web.AppRunner(app, shutdown_timeout=0.1), tls) as port:
        yield port, seen


async def test_an_aggregated_api_on_the_loopback_address_is_called_with_the_users_name(
    light_cluster: LightCluster,
) -> None:
    cluster = light_cluster
    async with aggregated_server(cluster) as (port, seen):
        service = named("Service", "aggregated")
        service["metadata"]["namespace"] = "default"
        service["spec"] = {"type": "ExternalName", "externalName": "localhost"}
        bundle = (await cluster.run_kubectl("config", "view", "--raw", "-o", "json")).stdout
        registration = {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": "v1.test.example"},
            "spec": {
                "group": "test.example",
                "version": "v1",
                "groupPriorityMinimum": 1000,
                "versionPriority": 10,
                "service": {"name": "aggregated", "namespace": "default", "port": port},
                "caBundle": json.loads(bundle)["clusters"][0]["cluster"][
                    "certificate-authority-data"
                ],
            },
        }
        await apply(cluster, service, registration)
        await cluster.run_kubectl(
            "wait", "--for=condition=Available", "apiservice/v1.test.example", "--timeout=100s"
        )

        # The proxy learns of an available service a moment after its condition says so.
        async def answers() -> bool:
            words = ("get", "--raw", "/apis/test.example/v1")
            return (await cluster.run_kubectl(*words, check=False)).code == 0

        try:
            await waiting.until(answers, limit_s=100, what="the aggregated API answers")
        finally:
            # One that does not answer would be in the way of others.
            await cluster.run_kubectl("delete", "apiservice/v1.test.example")
    users = {request.headers.get("X-Remote-User") for request in seen}
    assert "kubernetes-admin" in users


def running_under(folder: Path) -> list[int]:
    """The processes whose command line names the folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(folder).encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


def folders_of_clusters(folder: Path) -> list[Path]:
    return list(folder.glob("kubevirt-light-*"))


async def test_a_stopped_cluster_leaves_nothing_behind(light_programs: None) -> None:
    cluster = LightCluster()
    await cluster.start()
    folder = cluster.folder
    assert len(running_under(folder)) == 3
    await cluster.stop()
    assert not folder.exists()
    assert running_under(folder) == []
    await cluster.stop()


async def test_a_start_that_fails_says_why_and_leaves_nothing_behind(
    light_programs: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(errors.Broken, match=r"(?s)kube-apiserver ended with code 1.*unknown flag"):
        await LightCluster(api_flags={"no-such-flag": "1"}).start()
    assert running_under(tmp_path) == []
    assert folders_of_clusters(tmp_path) == []


PROGRAM = """
import asyncio, sys
from clusterup.light import LightCluster

async def main():
    async with LightCluster() as cluster:
        print(cluster.folder, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_it_dies_with_a_test_run_that_is_killed(light_programs: None, tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        PROGRAM,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(settings.PROVIDERS), "TMPDIR": str(tmp_path)},
    )
    assert process.stdout is not None
    folder = Path((await process.stdout.readline()).decode().strip())
    assert len(running_under(folder)) == 3
    process.send_signal(signal.SIGKILL)
    await process.wait()

    async def gone() -> bool:
        return running_under(folder) == []

    await waiting.until(gone, limit_s=60, what="the programs die with their parent")


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that everybody may enter, unlike those of pytest, and a place for all to write."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "tmp").mkdir()
        (folder / "tmp").chmod(0o1777)
        yield folder


def copy_programs(target: Path) -> None:
    provider = settings.PROVIDERS / settings.KUBERNETES
    ours = binaries.Binaries(provider, settings.cache_folder(os.environ))
    theirs = binaries.Binaries(provider, target)
    for name in light.PROGRAMS:
        theirs.path(name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ours.path(name), theirs.path(name))


@as_somebody_else
async def test_it_needs_no_root(light_programs: None, public_folder: Path) -> None:
    copy_programs(public_folder / "cache")
    short = PROGRAM.replace("asyncio.sleep(600)", "cluster.run_kubectl('get', 'ns')")
    outcome = await processes.run(
        *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"),
        *(sys.executable, "-c", short),
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(settings.PROVIDERS),
            "KUBEVIRT_CACHE": str(public_folder / "cache"),
            "TMPDIR": str(public_folder / "tmp"),
        },
    )
    assert outcome.stdout.startswith(str(public_folder))


async def test_nothing_is_reached_without_a_certificate(light_cluster: LightCluster) -> None:
    tls = ssl.create_default_context(cafile=str(light_cluster.ca_file))
    async with aiohttp.ClientSession() as session:
        url = f"{light_cluster.url}/api/v1/namespaces"
        async with session.get(url, ssl=tls) as answer:
            assert answer.status == 403
