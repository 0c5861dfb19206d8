"""Certificates that are renewed while a program runs."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from clusterup.certificates import Authority, Pair
from kubevirt.api.configuration import KubeVirtConfiguration, TLSConfiguration
from kubevirt.base.errors import ConfigError
from kubevirt.components.ground.tls import ClientTls, Files, ServerTls

HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority.create("test")


@pytest.fixture
def folder(tmp_path: Path, authority: Authority) -> Path:
    (tmp_path / "ca.crt").write_bytes(authority.pair.certificate)
    return tmp_path


def written(folder: Path, name: str, pair: Pair) -> Files:
    return Files(*pair.write(folder, name))


@asynccontextmanager
async def serving(tls: ServerTls) -> AsyncIterator[int]:
    """Tells each client by which name it is known."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen = writer.get_extra_info("peercert") or {}
        name = seen["subject"][0][0][1] if seen else "nobody"
        writer.write(name.encode() + b"\n")
        await reader.read()
        writer.close()

    server = await asyncio.start_server(greet, HOST, 0, ssl=tls.context)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def met(port: int, context: ssl.SSLContext) -> tuple[str, str]:
    """By which name we are known there, and by which name they are known here."""
    reader, writer = await asyncio.open_connection(HOST, port, ssl=context)
    try:
        known_as = (await reader.readline()).decode().strip()
        if not known_as:  # TLS 1.3 refuses a client after the client believes to be in
            raise ConnectionRefusedError
        return known_as, writer.get_extra_info("peercert")["subject"][0][0][1]
    finally:
        writer.close()
        await writer.wait_closed()


async def test_a_renewed_certificate_is_shown_from_the_next_connection_on(
    folder: Path, authority: Authority
) -> None:
    tls = ServerTls(written(folder, "server", authority.server("first", [HOST])))
    client = ClientTls(folder / "ca.crt")
    async with serving(tls) as port:
        assert await met(port, client.context()) == ("nobody", "first")
        written(folder, "server", authority.server("second", [HOST]))
        assert await met(port, client.context()) == ("nobody", "second")


async def test_while_certificate_and_key_do_not_fit_the_last_good_ones_are_used(
    folder: Path, authority: Authority
) -> None:
    tls = ServerTls(written(folder, "server", authority.server("first", [HOST])))
    client = ClientTls(folder / "ca.crt")
    async with serving(tls) as port:
        assert await met(port, client.context()) == ("nobody", "first")
        second = authority.server("second", [HOST])
        (folder / "server.crt").write_bytes(second.certificate)
        assert await met(port, client.context()) == ("nobody", "first")
        (folder / "server.key").write_bytes(second.key)
        assert await met(port, client.context()) == ("nobody", "second")


async def test_a_client_shows_what_it_has_now(folder: Path, authority: Authority) -> None:
    tls = ServerTls(
        written(folder, "server", authority.server("server", [HOST])), clients=folder / "ca.crt"
    )
    client = ClientTls(folder / "ca.crt", written(folder, "client", authority.client("ann")))
    async with serving(tls) as port:
        assert await met(port, client.context()) == ("ann", "server")
        assert client.context() is client.context()
        written(folder, "client", authority.client("bob"))
        assert await met(port, client.context()) == ("bob", "server")


async def test_clients_of_a_new_authority_are_let_in_when_the_bundle_has_it(
    folder: Path, authority: Authority
) -> None:
    other, bundle = Authority.create("another"), folder / "clients.crt"
    bundle.write_bytes(authority.pair.certificate)
    files = written(folder, "server", authority.server("server", [HOST]))
    tls = ServerTls(files, clients=bundle, is_demanding=True)
    client = ClientTls(folder / "ca.crt", written(folder, "client", other.client("ann")))
    async with serving(tls) as port:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await met(port, client.context())
        bundle.write_bytes(authority.pair.certificate + other.pair.certificate)
        assert await met(port, client.context()) == ("ann", "server")


async def test_who_must_show_a_certificate_and_has_none_is_not_let_in(
    folder: Path, authority: Authority
) -> None:
    files = written(folder, "server", authority.server("server", [HOST]))
    tls = ServerTls(files, clients=folder / "ca.crt", is_demanding=True)
    async with serving(tls) as port:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await met(port, ClientTls(folder / "ca.crt").context())


async def test_the_oldest_protocol_follows_the_configuration(
    folder: Path, authority: Authority
) -> None:
    tls = ServerTls(written(folder, "server", authority.server("server", [HOST])))
    client = ClientTls(folder / "ca.crt").context()
    client.maximum_version = ssl.TLSVersion.TLSv1_2
    async with serving(tls) as port:
        assert await met(port, client) == ("nobody", "server")
        newest = TLSConfiguration(min_tls_version="VersionTLS13")
        tls.follow(KubeVirtConfiguration(tls_configuration=newest))
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await met(port, client)
        tls.follow(KubeVirtConfiguration())
        assert await met(port, client) == ("nobody", "server")


def test_without_certificates_one_sentence_says_so(folder: Path) -> None:
    client = ClientTls(folder / "nowhere.crt")
    with pytest.raises(ConfigError, match=r"cannot be used: .*nowhere\.crt.*; restore them"):
        client.context()
