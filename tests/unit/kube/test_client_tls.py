"""TLS both ways: rotation without a restart, and refusals that say what to do."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from cryptography.hazmat.primitives import serialization
from tests.unit.kube.pki import Authority, Pair
from tests.unit.kube.scripted_server import ScriptedServer, refuses, says

from kubevirt.api.resource import Resource
from kubevirt.base.errors import ConfigError, KubevirtError, Unreachable
from kubevirt.kube.access.certificates import complaint
from kubevirt.kube.access.config import Config
from kubevirt.kube.access.credentials import HeldCredentials
from kubevirt.kube.access.material import File, Inline
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotAnApi, Unauthorized, Untrusted

LAMPS = Resource("house.example", "v1", "lamps", "Lamp", False, dict[str, Any])
PATH = "/apis/house.example/v1/lamps/hall"
LONG_AGO = datetime(2020, 5, 17, 8, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture(scope="module")
def stranger() -> Authority:
    return Authority("stranger")


async def who(request: web.Request) -> web.StreamResponse:
    """Tells the client by which name its certificate was seen."""
    assert request.transport is not None
    seen = request.transport.get_extra_info("peercert")
    return web.json_response({"user": seen["subject"][0][0][1]})


@asynccontextmanager
async def serving(tls: ssl.SSLContext | None) -> AsyncIterator[ScriptedServer]:
    server = ScriptedServer()
    server.on("GET", PATH, says({}))
    async with server.running(tls):
        yield server


def held(certificate: Path, key: Path) -> HeldCredentials:
    return HeldCredentials(
        certificate=File(certificate, 'client certificate of user "ann", file'),
        key=File(key, "client key"),
    )


def inline(pair: Pair) -> HeldCredentials:
    return HeldCredentials(
        certificate=Inline(pair.certificate, 'client certificate of user "ann"'),
        key=Inline(pair.key, "key"),
    )


async def ask(config: Config) -> dict[str, Any]:
    async with Client(config) as client:
        return await client.get(LAMPS, "hall")


async def failure(config: Config) -> KubevirtError:
    with pytest.raises(KubevirtError) as caught:
        await ask(config)
    return caught.value


async def test_a_client_certificate_from_the_configuration_is_shown(
    authority: Authority, tmp_path: Path
) -> None:
    async with serving(authority.server_side(tmp_path, clients=authority)) as server:
        server.on("GET", PATH, who)
        config = Config(
            server=server.url,
            ca=Inline(authority.pem, "ca"),
            credentials=inline(authority.issue("ann")),
        )
        assert await ask(config) == {"user": "ann"}


async def test_rotated_client_certificates_are_used_from_the_next_call_on(
    authority: Authority, tmp_path: Path
) -> None:
    files = authority.issue("first").write(tmp_path, "client")
    async with serving(authority.server_side(tmp_path, clients=authority)) as server:
        server.on("GET", PATH, who)
        config = Config(server=server.url, ca=Inline(authority.pem, "ca"), credentials=held(*files))
        async with Client(config) as client:
            assert await client.get(LAMPS, "hall") == {"user": "first"}
            authority.issue("second").write(tmp_path, "client")
            assert await client.get(LAMPS, "hall") == {"user": "second"}


async def test_half_a_rotation_is_waited_out(authority: Authority, tmp_path: Path) -> None:
    certificate, key = authority.issue("first").write(tmp_path, "client")
    async with serving(authority.server_side(tmp_path, clients=authority)) as server:
        server.on("GET", PATH, who)
        config = Config(
            server=server.url, ca=Inline(authority.pem, "ca"), credentials=held(certificate, key)
        )
        async with Client(config) as client:
            await client.get(LAMPS, "hall")
            second = authority.issue("second")
            certificate.write_bytes(second.certificate)
            for _ in range(2):
                assert await client.get(LAMPS, "hall") == {"user": "first"}
            key.write_bytes(second.key)
            assert await client.get(LAMPS, "hall") == {"user": "second"}


async def test_a_rotated_authority_is_trusted_from_the_next_connection_on(
    authority: Authority, stranger: Authority, tmp_path: Path
) -> None:
    ca = tmp_path / "ca.crt"
    ca.write_bytes(authority.pem)
    async with (
        serving(stranger.server_side(tmp_path)) as server,
        Client(Config(server=server.url, ca=File(ca, "cluster CA"))) as client,
    ):
        with pytest.raises(Untrusted):
            await client.get(LAMPS, "hall")
        ca.write_bytes(authority.pem + stranger.pem)
        assert await client.get(LAMPS, "hall") == {}
        ca.write_bytes(b"half of a fi")
        assert await client.get(LAMPS, "hall") == {}, "what was good stays good"


async def test_a_certificate_that_is_no_authority_may_be_trusted_by_itself(
    authority: Authority, tmp_path: Path
) -> None:
    leaf = authority.issue("server")
    async with serving(authority.server_side(tmp_path, leaf)) as server:
        assert await ask(Config(server=server.url, ca=Inline(leaf.certificate, "ca"))) == {}


async def test_an_unknown_authority_is_not_trusted(
    authority: Authority, stranger: Authority, tmp_path: Path
) -> None:
    async with serving(stranger.server_side(tmp_path)) as server:
        config = Config(server=server.url, ca=Inline(authority.pem, "ca"), origin="/etc/kube")
        error = await failure(config)
        assert isinstance(error, Untrusted)
        assert str(error) == (
            f"the certificate of {server.url} is not signed by an authority that we trust"
            " (unable to get local issuer certificate);"
            " set the certificate-authority in /etc/kube"
        )
        assert isinstance(await failure(Config(server=server.url)), Untrusted)


async def test_the_name_in_the_certificate_must_be_the_servers_or_the_one_we_name(
    authority: Authority, tmp_path: Path
) -> None:
    pair = authority.issue("server", hosts=("kubernetes", "10.9.8.7"))
    async with serving(authority.server_side(tmp_path, pair)) as server:
        config = Config(server=server.url, ca=Inline(authority.pem, "ca"))
        error = await failure(config)
        assert isinstance(error, Untrusted)
        assert "is for another name; correct the address" in str(error)
        assert "tls-server-name" in str(error)
        named = Config(server=server.url, ca=config.ca, tls_server_name="kubernetes")
        assert await ask(named) == {}


@pytest.mark.parametrize(
    ("since", "words"),
    [
        (LONG_AGO, "has expired; renew it on the server"),
        (datetime.now(UTC) + timedelta(days=2), "is not valid yet; check this machine's clock"),
    ],
)
async def test_a_server_certificate_out_of_its_time_is_not_trusted(
    authority: Authority, tmp_path: Path, since: datetime, words: str
) -> None:
    pair = authority.issue("server", since=since)
    async with serving(authority.server_side(tmp_path, pair)) as server:
        error = await failure(Config(server=server.url, ca=Inline(authority.pem, "ca")))
        assert isinstance(error, Untrusted)
        assert f"the certificate of {server.url} {words}" in str(error)


async def test_verification_can_be_given_up(authority: Authority, tmp_path: Path) -> None:
    pair = authority.issue("server", hosts=("elsewhere",), since=LONG_AGO)
    async with serving(authority.server_side(tmp_path, pair)) as server:
        assert await ask(Config(server=server.url, insecure_skip_tls_verify=True)) == {}


async def test_an_expired_client_certificate_is_named_with_its_day(
    authority: Authority, tmp_path: Path
) -> None:
    expired = authority.issue("ann", since=LONG_AGO)
    sentence = 'the client certificate of user "ann" expired on 2020-05-18 08:30 UTC; renew it'
    # Some servers hang up on it, kube-apiserver answers 401.
    async with serving(authority.server_side(tmp_path, clients=authority)) as server:
        config = Config(
            server=server.url, ca=Inline(authority.pem, "ca"), credentials=inline(expired)
        )
        error = await failure(config)
        assert isinstance(error, Untrusted)
        assert sentence in str(error)
    async with serving(authority.server_side(tmp_path)) as server:
        server.on("GET", PATH, refuses(401, "Unauthorized", "Unauthorized"))
        config = Config(server=server.url, ca=config.ca, credentials=inline(expired))
        error = await failure(config)
        assert isinstance(error, Unauthorized)
        assert sentence in str(error)


async def test_a_client_certificate_that_is_not_valid_yet_is_named(
    authority: Authority, tmp_path: Path
) -> None:
    early = authority.issue("ann", since=datetime(2100, 1, 1, tzinfo=UTC))
    async with serving(authority.server_side(tmp_path, clients=authority)) as server:
        config = Config(
            server=server.url, ca=Inline(authority.pem, "ca"), credentials=inline(early)
        )
        assert "is valid only from 2100-01-01 00:00 UTC on" in str(await failure(config))


async def test_a_server_that_does_not_speak_tls_is_no_api(authority: Authority) -> None:
    async with serving(None) as server:
        error = await failure(Config(server=server.url.replace("http:", "https:")))
        assert isinstance(error, NotAnApi)
        assert "write http://" in str(error)


async def test_a_server_that_speaks_tls_hangs_up_on_http(
    authority: Authority, tmp_path: Path
) -> None:
    async with serving(authority.server_side(tmp_path)) as server:
        error = await failure(Config(server=server.url.replace("https:", "http:")))
        assert isinstance(error, Unreachable)


async def test_a_refused_client_certificate_is_told_in_the_servers_words(
    authority: Authority, stranger: Authority, tmp_path: Path
) -> None:
    context = authority.server_side(tmp_path, clients=authority)
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # it refuses while the client still listens

    def refuse_one(listening: socket.socket) -> None:
        # asyncio's server hangs up without a word; this one says why, as Go's does.
        connection, _ = listening.accept()
        with connection, pytest.raises(ssl.SSLError):
            context.wrap_socket(connection, server_side=True)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = Config(
            server=f"https://127.0.0.1:{listening.getsockname()[1]}",
            ca=Inline(authority.pem, "ca"),
            credentials=inline(stranger.issue("ann")),
            origin="/etc/kube",
        )
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.to_thread(refuse_one, listening))
            error = await failure(config)
    assert isinstance(error, Untrusted)
    assert "refused the TLS connection (tlsv1 alert unknown ca)" in str(error)
    assert "check the client certificate in /etc/kube" in str(error)


async def test_what_is_no_certificate_is_never_loaded(authority: Authority) -> None:
    assert complaint(b"no PEM", datetime.now(UTC)) == "is not a PEM certificate"
    assert complaint(authority.pem, datetime.now(UTC)) == ""


def encrypted(pair: Pair) -> bytes:
    key = serialization.load_pem_private_key(pair.key, None)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"word"),
    )


async def test_material_that_cannot_be_used_is_named_and_not_shown(authority: Authority) -> None:
    ann, bob = authority.issue("ann"), authority.issue("bob")
    ca = Inline(authority.pem, "ca")
    server = "https://127.0.0.1:1"
    for config, words in [
        (
            Config(server=server, ca=Inline(b"s3cr3t", 'certificate authority of cluster "c"')),
            'the certificate authority of cluster "c" is not a PEM certificate',
        ),
        (
            Config(server=server, ca=ca, credentials=inline(Pair(ann.certificate, bob.key))),
            'client certificate of user "ann" cannot be used with its key: the two do not belong',
        ),
        (
            Config(server=server, ca=ca, credentials=inline(Pair(ann.certificate, b"s3cr3t"))),
            "one of them is not valid PEM",
        ),
        (
            Config(server=server, ca=ca, credentials=inline(Pair(ann.certificate, encrypted(ann)))),
            "the key is protected by a password",
        ),
    ]:
        error = await failure(config)
        assert isinstance(error, ConfigError)
        assert words in str(error)
        assert "s3cr3t" not in str(error)
