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
from tests.tls_servers import LOOPBACK, context_of
from tests.unit.kube.scripted_server import ScriptedServer, refuses, says

from clusterup.certificates import Authority, Pair, Validity
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
    return Authority.create("test authority")


@pytest.fixture(scope="module")
def stranger() -> Authority:
    return Authority.create("stranger")


def ca_of(authority: Authority) -> Inline:
    return Inline(authority.pair.certificate, "ca")


def open_to_all(authority: Authority) -> ssl.SSLContext:
    return context_of(authority.server("server", [LOOPBACK]))


def demanding(authority: Authority) -> ssl.SSLContext:
    """Of a server that lets in only whom its own authority has signed."""
    own = authority.server("server", [LOOPBACK])
    return context_of(own, clients=authority.pair.certificate)


def a_day_from(moment: datetime) -> Validity:
    return Validity(moment, moment + timedelta(days=1))


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


async def test_a_client_certificate_from_the_configuration_is_shown(authority: Authority) -> None:
    async with serving(demanding(authority)) as server:
        server.on("GET", PATH, who)
        config = Config(
            server=server.url, ca=ca_of(authority), credentials=inline(authority.client("ann"))
        )
        assert await ask(config) == {"user": "ann"}


async def test_rotated_client_certificates_are_used_from_the_next_call_on(
    authority: Authority, tmp_path: Path
) -> None:
    files = authority.client("first").write(tmp_path, "client")
    async with serving(demanding(authority)) as server:
        server.on("GET", PATH, who)
        config = Config(server=server.url, ca=ca_of(authority), credentials=held(*files))
        async with Client(config) as client:
            assert await client.get(LAMPS, "hall") == {"user": "first"}
            authority.client("second").write(tmp_path, "client")
            assert await client.get(LAMPS, "hall") == {"user": "second"}


async def test_half_a_rotation_is_waited_out(authority: Authority, tmp_path: Path) -> None:
    certificate, key = authority.client("first").write(tmp_path, "client")
    async with serving(demanding(authority)) as server:
        server.on("GET", PATH, who)
        config = Config(server=server.url, ca=ca_of(authority), credentials=held(certificate, key))
        async with Client(config) as client:
            await client.get(LAMPS, "hall")
            second = authority.client("second")
            certificate.write_bytes(second.certificate)
            for _ in range(2):
                assert await client.get(LAMPS, "hall") == {"user": "first"}
            key.write_bytes(second.key)
            assert await client.get(LAMPS, "hall") == {"user": "second"}


async def test_a_rotated_authority_is_trusted_from_the_next_connection_on(
    authority: Authority, stranger: Authority, tmp_path: Path
) -> None:
    ca = tmp_path / "ca.crt"
    ca.write_bytes(authority.pair.certificate)
    async with (
        serving(open_to_all(stranger)) as server,
        Client(Config(server=server.url, ca=File(ca, "cluster CA"))) as client,
    ):
        with pytest.raises(Untrusted):
            await client.get(LAMPS, "hall")
        ca.write_bytes(authority.pair.certificate + stranger.pair.certificate)
        assert await client.get(LAMPS, "hall") == {}
        ca.write_bytes(b"half of a fi")
        assert await client.get(LAMPS, "hall") == {}, "what was good stays good"


async def test_a_certificate_that_is_no_authority_may_be_trusted_by_itself(
    authority: Authority,
) -> None:
    leaf = authority.server("server", [LOOPBACK])
    async with serving(context_of(leaf)) as server:
        assert await ask(Config(server=server.url, ca=Inline(leaf.certificate, "ca"))) == {}


async def test_an_unknown_authority_is_not_trusted(
    authority: Authority, stranger: Authority
) -> None:
    async with serving(open_to_all(stranger)) as server:
        config = Config(server=server.url, ca=ca_of(authority), origin="/etc/kube")
        error = await failure(config)
        assert isinstance(error, Untrusted)
        assert str(error) == (
            f"the certificate of {server.url} is not signed by an authority that we trust"
            " (unable to get local issuer certificate);"
            " set the certificate-authority in /etc/kube"
        )
        assert isinstance(await failure(Config(server=server.url)), Untrusted)


async def test_the_name_in_the_certificate_must_be_the_servers_or_the_one_we_name(
    authority: Authority,
) -> None:
    pair = authority.server("server", ["kubernetes", "10.9.8.7"])
    async with serving(context_of(pair)) as server:
        config = Config(server=server.url, ca=ca_of(authority))
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
    authority: Authority, since: datetime, words: str
) -> None:
    pair = authority.server("server", [LOOPBACK], a_day_from(since))
    async with serving(context_of(pair)) as server:
        error = await failure(Config(server=server.url, ca=ca_of(authority)))
        assert isinstance(error, Untrusted)
        assert f"the certificate of {server.url} {words}" in str(error)


async def test_verification_can_be_given_up(authority: Authority) -> None:
    pair = authority.server("server", ["elsewhere"], a_day_from(LONG_AGO))
    async with serving(context_of(pair)) as server:
        assert await ask(Config(server=server.url, insecure_skip_tls_verify=True)) == {}


async def test_an_expired_client_certificate_is_named_with_its_day(authority: Authority) -> None:
    expired = authority.client("ann", validity=a_day_from(LONG_AGO))
    sentence = 'the client certificate of user "ann" expired on 2020-05-18 08:30 UTC; renew it'
    # Some servers hang up on it, kube-apiserver answers 401.
    async with serving(demanding(authority)) as server:
        config = Config(server=server.url, ca=ca_of(authority), credentials=inline(expired))
        error = await failure(config)
        assert isinstance(error, Untrusted)
        assert sentence in str(error)
    async with serving(open_to_all(authority)) as server:
        server.on("GET", PATH, refuses(401, "Unauthorized", "Unauthorized"))
        config = Config(server=server.url, ca=config.ca, credentials=inline(expired))
        error = await failure(config)
        assert isinstance(error, Unauthorized)
        assert sentence in str(error)


async def test_a_client_certificate_that_is_not_valid_yet_is_named(authority: Authority) -> None:
    early = authority.client("ann", validity=a_day_from(datetime(2100, 1, 1, tzinfo=UTC)))
    async with serving(demanding(authority)) as server:
        config = Config(server=server.url, ca=ca_of(authority), credentials=inline(early))
        assert "is valid only from 2100-01-01 00:00 UTC on" in str(await failure(config))


async def test_a_server_that_does_not_speak_tls_is_no_api(authority: Authority) -> None:
    async with serving(None) as server:
        error = await failure(Config(server=server.url.replace("http:", "https:")))
        assert isinstance(error, NotAnApi)
        assert "write http://" in str(error)


async def test_a_server_that_speaks_tls_hangs_up_on_http(authority: Authority) -> None:
    async with serving(open_to_all(authority)) as server:
        error = await failure(Config(server=server.url.replace("https:", "http:")))
        assert isinstance(error, Unreachable)


async def test_a_refused_client_certificate_is_told_in_the_servers_words(
    authority: Authority, stranger: Authority
) -> None:
    context = demanding(authority)
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # it refuses while the client still listens

    def refuse_one(listening: socket.socket) -> None:
        # asyncio's server hangs up without a word; this one says why, as Go's does.
        connection, _ = listening.accept()
        with connection, pytest.raises(ssl.SSLError):
            context.wrap_socket(connection, server_side=True)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = Config(
            server=f"https://127.0.0.1:{listening.getsockname()[1]}",
            ca=ca_of(authority),
            credentials=inline(stranger.client("ann")),
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
    assert complaint(authority.pair.certificate, datetime.now(UTC)) == ""


def encrypted(pair: Pair) -> bytes:
    key = serialization.load_pem_private_key(pair.key, None)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"word"),
    )


async def test_material_that_cannot_be_used_is_named_and_not_shown(authority: Authority) -> None:
    ann, bob = authority.client("ann"), authority.client("bob")
    ca = ca_of(authority)
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
