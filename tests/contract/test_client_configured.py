"""Every way to say where the server is and who asks, on a real server; and what is counted of the asking."""

import asyncio
import base64
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from tests.contract import hooks
from tests.contract.conftest import SERVICE_ACCOUNTS, People, Server, config_of
from tests.contract.hooks import VALIDATING
from tests.contract.lamps import CONFIG_MAPS, a_config_map
from yarl import URL

from kubevirt.base.errors import Unreachable
from kubevirt.kube.access import default_config, kubeconfig
from kubevirt.kube.access.config import Config
from kubevirt.kube.client import Client
from kubevirt.kube.errors import Forbidden, NotFound, TooManyRequests, Unauthorized, Untrusted
from kubevirt.kube.metrics import Metrics

Object = dict[str, Any]

EXEC_VERSION = "client.authentication.k8s.io/v1"
ALWAYS_THERE = "kube-root-ca.crt"


async def seen_as(config: Config) -> str:
    """By which name the server knows whoever asks like this."""
    async with Client(config) as client:
        return await seen_by(client)


async def seen_by(client: Client) -> str:
    try:
        await client.get(CONFIG_MAPS, ALWAYS_THERE, "default")
    except Forbidden as refusal:
        return str(refusal).partition('User "')[2].partition('"')[0]
    return "an administrator"


def parts_of(path: Path) -> tuple[Object, Object]:
    """The cluster and the user of a kubeconfig."""
    content = yaml.safe_load(path.read_text())
    return content["clusters"][0]["cluster"], content["users"][0]["user"]


def written(
    path: Path,
    *,
    clusters: Mapping[str, Object] | None = None,
    users: Mapping[str, Object] | None = None,
    contexts: Mapping[str, tuple[str, str]] | None = None,
    current: str = "",
) -> Path:
    """A kubeconfig, or a part of one."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": each} for name, each in (clusters or {}).items()],
        "users": [{"name": name, "user": each} for name, each in (users or {}).items()],
        "contexts": [
            {"name": name, "context": {"cluster": cluster, "user": user}}
            for name, (cluster, user) in (contexts or {}).items()
        ],
        "current-context": current,
    }
    path.write_text(yaml.safe_dump(content))
    return path


def configured(folder: Path, cluster: Object, user: Object) -> Config:
    path = written(
        folder / "config",
        clusters={"lab": cluster},
        users={"someone": user},
        contexts={"lab": ("lab", "someone")},
        current="lab",
    )
    return kubeconfig.load([path], os.environ)


def decoded(data: str) -> str:
    return base64.b64decode(data).decode()


def replace(path: Path, content: str) -> None:
    """In one step, as whoever rotates credentials should."""
    new = path.with_suffix(".new")
    new.write_text(content)
    new.replace(path)


async def token_of(people: People, client: Client, namespace: str, name: str) -> str:
    """Of a new service account."""
    await client.create(SERVICE_ACCOUNTS, {"metadata": {"name": name}}, namespace)
    return await people.service_account_token(namespace, name)


# Where it stands


async def test_several_files_are_one_and_the_context_chooses(
    people: People, tmp_path: Path
) -> None:
    cluster, admin = parts_of(people.kubeconfig)
    _, ann = parts_of(people.kubeconfig_for("ann"))
    places = written(tmp_path / "places", clusters={"lab": cluster}, current="as-ann")
    persons = written(
        tmp_path / "persons",
        # The first file that has a name wins.
        clusters={"lab": {"server": "https://nowhere.invalid"}},
        users={"ann": ann, "admin": admin},
        contexts={"as-ann": ("lab", "ann"), "as-admin": ("lab", "admin")},
        current="as-admin",
    )
    env = {**os.environ, "KUBECONFIG": f"{places}{os.pathsep}{persons}"}
    assert await seen_as(default_config.find(env)) == "ann"
    assert await seen_as(default_config.find(env, context="as-admin")) == "an administrator"
    assert await seen_as(kubeconfig.load([places, persons], env, user="admin")) == (
        "an administrator"
    )


async def test_a_pod_asks_with_its_service_account(
    people: People, client: Client, namespace: str, tmp_path: Path
) -> None:
    cluster, _ = parts_of(people.kubeconfig)
    (tmp_path / "ca.crt").write_text(decoded(cluster["certificate-authority-data"]))
    (tmp_path / "namespace").write_text(namespace)
    server = URL(cluster["server"])
    env = {
        "HOME": str(tmp_path),
        "KUBERNETES_SERVICE_HOST": str(server.host),
        "KUBERNETES_SERVICE_PORT": str(server.port),
        # On the way to this machine itself it is not to be used.
        "HTTPS_PROXY": "http://127.0.0.1:1",
    }
    account = f"system:serviceaccount:{namespace}"
    (tmp_path / "token").write_text(await token_of(people, client, namespace, "first"))
    config = default_config.find(env, account=tmp_path)
    assert config.namespace == namespace
    async with Client(config) as pod:
        assert await seen_by(pod) == f"{account}:first"
        # Kubelet replaces it long before it expires.
        replace(tmp_path / "token", await token_of(people, client, namespace, "second"))
        assert await seen_by(pod) == f"{account}:second"


# Who asks


async def test_a_rotated_client_certificate_is_shown_from_the_next_call_on(
    people: People, tmp_path: Path
) -> None:
    cluster, _ = parts_of(people.kubeconfig)
    certificate, key = tmp_path / "client.crt", tmp_path / "client.key"
    config = configured(
        tmp_path, cluster, {"client-certificate": "client.crt", "client-key": "client.key"}
    )

    def rotate(name: str) -> None:
        _, user = parts_of(people.kubeconfig_for(name))
        replace(certificate, decoded(user["client-certificate-data"]))
        replace(key, decoded(user["client-key-data"]))

    rotate("ann")
    async with Client(config) as client:
        assert await seen_by(client) == "ann"
        rotate("bob")
        assert await seen_by(client) == "bob"


async def test_a_rotated_token_file_is_read_at_the_next_call(
    people: People, client: Client, namespace: str, tmp_path: Path
) -> None:
    cluster, _ = parts_of(people.kubeconfig)
    config = configured(tmp_path, cluster, {"tokenFile": "token"})
    (tmp_path / "token").write_text("s3cr3t")
    async with Client(config) as asking:
        with pytest.raises(Unauthorized):
            await seen_by(asking)
        for name in ("first", "second"):
            replace(tmp_path / "token", await token_of(people, client, namespace, name))
            assert await seen_by(asking) == f"system:serviceaccount:{namespace}:{name}"


class Login:
    """A program that logs somebody in: it gives what it was told to, and writes down what it was asked."""

    def __init__(self, folder: Path) -> None:
        self._gives, self._asked = folder / "gives", folder / "asked"
        program = folder / "login"
        program.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "$KUBERNETES_EXEC_INFO" >>{self._asked}\n'
            f"exec cat {self._gives}\n"
        )
        program.chmod(0o700)
        self.user: Object = {
            "exec": {
                "apiVersion": EXEC_VERSION,
                "command": "./login",
                "interactiveMode": "Never",
                "provideClusterInfo": True,
            }
        }

    def gives(self, **status: str) -> None:
        credential = {"apiVersion": EXEC_VERSION, "kind": "ExecCredential", "status": status}
        self._gives.write_text(json.dumps(credential))

    def asked(self) -> list[Object]:
        """About which cluster, each time."""
        lines = self._asked.read_text().splitlines()
        return [json.loads(line)["spec"]["cluster"] for line in lines]


@pytest.fixture
def login(tmp_path: Path) -> Login:
    return Login(tmp_path)


async def test_an_exec_plugin_is_asked_again_when_its_token_is_refused_and_not_before(
    people: People, client: Client, namespace: str, tmp_path: Path, login: Login
) -> None:
    cluster, _ = parts_of(people.kubeconfig)
    login.gives(token="s3cr3t")
    async with Client(configured(tmp_path, cluster, login.user)) as asking:
        with pytest.raises(Unauthorized):
            await seen_by(asking)
        before = len(login.asked())
        login.gives(token=await token_of(people, client, namespace, "robot"))
        for _ in range(2):
            assert await seen_by(asking) == f"system:serviceaccount:{namespace}:robot"
    assert len(login.asked()) == before + 1
    for each in login.asked():
        assert each["server"] == cluster["server"]
        assert each["certificate-authority-data"] == cluster["certificate-authority-data"]


async def test_an_exec_plugin_may_give_a_client_certificate(
    people: People, tmp_path: Path, login: Login
) -> None:
    cluster, _ = parts_of(people.kubeconfig)
    _, ann = parts_of(people.kubeconfig_for("ann"))
    login.gives(
        clientCertificateData=decoded(ann["client-certificate-data"]),
        clientKeyData=decoded(ann["client-key-data"]),
    )
    assert await seen_as(configured(tmp_path, cluster, login.user)) == "ann"


# The way there


async def test_whoever_answers_is_believed_only_when_that_was_asked_for(
    server: Server, tmp_path: Path
) -> None:
    cluster, admin = parts_of(server.kubeconfig)
    del cluster["certificate-authority-data"]
    with pytest.raises(Untrusted):
        await seen_as(configured(tmp_path, cluster, admin))
    cluster["insecure-skip-tls-verify"] = True
    assert await seen_as(configured(tmp_path, cluster, admin)) == "an administrator"


class Proxy:
    """An HTTP proxy that lets everybody through, and writes down where they go."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[str] = []
        self._travellers: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        server = await asyncio.start_server(self._let_through, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server:
            yield
        async with asyncio.timeout(60):
            await asyncio.gather(*self._travellers)

    async def _let_through(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._travellers.add(task)
        head = await reader.readuntil(b"\r\n\r\n")
        verb, place, _ = head.decode().split(" ", 2)
        self.asked.append(f"{verb} {place}")
        host, _, port = place.rpartition(":")
        there, here = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_carry(reader, here), _carry(there, writer))


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while content := await reader.read(1 << 16):
            writer.write(content)
            await writer.drain()
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


async def test_a_proxy_on_the_way_sees_where_we_go_and_nothing_else(
    server: Server, tmp_path: Path
) -> None:
    cluster, admin = parts_of(server.kubeconfig)
    proxy = Proxy()
    async with proxy.running():
        config = configured(tmp_path, {**cluster, "proxy-url": proxy.url}, admin)
        # TLS goes through it to the server: the certificates of both sides are as without it.
        assert await seen_as(config) == "an administrator"
        async with Client(config) as client:
            watch = client.watch(CONFIG_MAPS, "default", resource_version=None, timeout_s=60)
            async with aclosing(watch) as events:
                assert (await anext(events)).object is not None
    assert set(proxy.asked) == {f"CONNECT {URL(cluster['server']).authority}"}
    with pytest.raises(Unreachable, match="check the proxy-url"):
        await seen_as(config)


# When it is too much


class Busy:
    """A webhook that puts off whoever comes, so often; then it lets everybody in."""

    def __init__(self, times: int, *, seconds: int) -> None:
        self._left = times
        details = {"retryAfterSeconds": seconds}
        self._later = hooks.no("later", code=429, reason="TooManyRequests", details=details)

    def __call__(self, request: Object) -> Any:
        self._left -= 1
        return self._later(request) if self._left >= 0 else hooks.yes(request)


async def test_what_the_server_puts_off_is_asked_again_when_it_said(
    server: Server, client: Client, namespace: str
) -> None:
    clock = asyncio.get_running_loop().time
    async with (
        hooks.one(client, VALIDATING, namespace, Busy(times=2, seconds=1)) as hook,
        Client(config_of(server.kubeconfig)) as asking,
    ):
        began = clock()
        await asking.create(CONFIG_MAPS, a_config_map("late"), namespace)
        assert clock() - began >= 2.0
        assert [each["name"] for each in hook.asked] == ["late", "late", "late"]
        [waits] = asking.traffic.waits.values()
        assert waits.count == 2
    await client.get(CONFIG_MAPS, "late", namespace)


async def test_what_is_put_off_for_longer_than_a_call_may_last_is_refused_at_once(
    server: Server, client: Client, namespace: str
) -> None:
    async with (
        hooks.one(client, VALIDATING, namespace, Busy(times=1, seconds=300)) as hook,
        Client(config_of(server.kubeconfig)) as asking,
    ):
        with pytest.raises(TooManyRequests, match="later") as caught:
            await asking.create(CONFIG_MAPS, a_config_map("never"), namespace)
        assert caught.value.after_s == 300
        assert len(hook.asked) == 1


# What is counted


async def test_what_was_asked_is_counted_under_kubevirts_names(
    server: Server, namespace: str
) -> None:
    metrics = Metrics()
    async with Client(config_of(server.kubeconfig)) as client:
        metrics.add_traffic(client.traffic)
        await client.create(CONFIG_MAPS, a_config_map("one"), namespace)
        await client.get(CONFIG_MAPS, "one", namespace)
        await client.list(CONFIG_MAPS, namespace)
        with pytest.raises(NotFound):
            await client.get(CONFIG_MAPS, "none", namespace)
    host = URL(config_of(server.kubeconfig).server).authority
    assert requests_in(metrics) == {
        ("201", "POST", host, "configmaps", "CREATE"): 1,
        ("200", "GET", host, "configmaps", "GET"): 1,
        ("200", "GET", host, "configmaps", "LIST"): 1,
        ("404", "GET", host, "configmaps", "GET"): 1,
    }
    collection = f"https://{host}/api/v1/namespaces/%7Bnamespace%7D/configmaps"
    assert answers_in(metrics) == {
        ("CREATE", collection): 1,
        ("LIST", collection): 1,
        ("GET", f"{collection}/%7Bname%7D"): 2,
    }


def requests_in(metrics: Metrics) -> dict[tuple[str, ...], float]:
    labels = ("code", "method", "host", "resource", "verb")
    return samples(metrics, "kubevirt_rest_client_requests_total", *labels)


def answers_in(metrics: Metrics) -> dict[tuple[str, ...], float]:
    return samples(metrics, "kubevirt_rest_client_request_latency_seconds_count", "verb", "url")


def samples(metrics: Metrics, name: str, *labels: str) -> dict[tuple[str, ...], float]:
    return {
        tuple(sample.labels[label] for label in labels): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
        if sample.name == name
    }
