"""Certificates: what they say, when they are due, where they are kept."""

import asyncio
import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from kubevirt.apiserver.auth.authority import (
    AUTHORITY_LIFE,
    LEAF_LIFE,
    Authority,
    Wanted,
    is_due,
    why_new,
)
from kubevirt.apiserver.auth.folder import TrustFolder
from kubevirt.apiserver.auth.tls import server_context
from kubevirt.base.errors import UserError
from kubevirt.base.files import Root

NOW = datetime(2026, 5, 1, tzinfo=UTC)
ANN = Wanted.client("ann", ["ops", "dev"])


@pytest.fixture
def authority() -> Authority:
    return Authority.create("house", NOW)


def test_a_certificate_is_due_when_a_third_of_its_life_is_left() -> None:
    start, end = NOW, NOW + timedelta(days=90)
    assert not is_due(start, end, NOW)
    assert not is_due(start, end, NOW + timedelta(days=60))
    assert is_due(start, end, NOW + timedelta(days=60, seconds=1))
    assert is_due(start, end, NOW + timedelta(days=1000))


def test_a_certificate_of_the_future_is_due() -> None:
    assert is_due(NOW + timedelta(days=1), NOW + timedelta(days=90), NOW)


def test_what_is_at_hand_is_used_while_it_is_good(authority: Authority) -> None:
    pair = authority.issue(ANN, NOW)
    assert why_new(pair, ANN, authority, NOW) == ""
    assert why_new(None, ANN, authority, NOW) == "there is none"
    assert "until 2027-05-01" in why_new(pair, ANN, authority, NOW + LEAF_LIFE)
    assert why_new(pair, Wanted.client("bob"), authority, NOW) == "it is for another name"
    assert why_new(pair, Wanted.client("ann"), authority, NOW) == "it is for another name"
    other = Authority.create("house", NOW)
    assert why_new(pair, ANN, other, NOW) == "another authority has signed it"
    mixed = type(pair)(pair.certificate, authority.issue(ANN, NOW).key)
    assert why_new(mixed, ANN, authority, NOW) == "it is not of its key"
    assert why_new(type(pair)(b"", b""), ANN, authority, NOW) == "it cannot be read"


def test_a_server_with_another_address_needs_another_certificate(authority: Authority) -> None:
    here = Wanted.server("api", ["localhost", "127.0.0.1", "::1"])
    pair = authority.issue(here, NOW)
    assert why_new(pair, here, authority, NOW) == ""
    moved = Wanted.server("api", ["localhost", "10.0.0.1", "::1"])
    assert why_new(pair, moved, authority, NOW) == "it is for another name"


def test_what_an_authority_has_signed_outlives_its_renewal(authority: Authority) -> None:
    pair = authority.issue(ANN, NOW)
    later = NOW + AUTHORITY_LIFE
    assert authority.is_due(later)
    renewed = authority.renewed(later)
    assert not renewed.is_due(later)
    assert renewed.has_signed(x509.load_pem_x509_certificate(pair.certificate))


def test_no_certificate_outlives_its_authority(authority: Authority) -> None:
    pair = authority.issue(ANN, NOW + AUTHORITY_LIFE - timedelta(days=1))
    found = x509.load_pem_x509_certificate(pair.certificate)
    assert found.not_valid_after_utc == NOW + AUTHORITY_LIFE


def test_a_name_that_no_certificate_holds_is_refused(authority: Authority) -> None:
    wanted = Wanted.node("n" * 52, ["127.0.0.1"])
    assert why_new(authority.issue(wanted, NOW), wanted, authority, NOW) == ""
    with pytest.raises(UserError, match="choose a shorter name"):
        authority.issue(Wanted.node("n" * 53), NOW)


def test_a_key_is_not_shown(authority: Authority) -> None:
    assert "PRIVATE" not in repr(authority.pair)


def test_a_folder_keeps_what_is_good_and_renews_what_is_due(tmp_path: Path) -> None:
    with Root.open(tmp_path) as root:
        folder = TrustFolder(root, str(tmp_path))
        authority = folder.authority("ca", "house", NOW)
        assert folder.authority("ca", "house", NOW).pair == authority.pair
        first = folder.certificate("ann", ANN, authority, NOW)
        assert folder.certificate("ann", ANN, authority, NOW) == first
        assert folder.certificate("ann", ANN, authority, NOW + LEAF_LIFE) != first
        later = folder.authority("ca", "house", NOW + AUTHORITY_LIFE)
        assert later.pair.key == authority.pair.key
        assert later.pair.certificate != authority.pair.certificate
        assert folder.signing_key() == folder.signing_key()


def test_keys_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    with Root.open(tmp_path) as root:
        folder = TrustFolder(root, str(tmp_path))
        folder.authority("ca", "house", NOW)
        folder.signing_key()
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()}
    assert modes == {"ca.crt": 0o644, "ca.key": 0o600, "sa.key": 0o600}


@pytest.mark.parametrize("name", ["ca.key", "sa.key"])
def test_a_key_that_others_can_read_is_not_used(tmp_path: Path, name: str) -> None:
    with Root.open(tmp_path) as root:
        folder = TrustFolder(root, str(tmp_path))
        folder.authority("ca", "house", NOW)
        folder.signing_key()
        (tmp_path / name).chmod(0o640)
        with pytest.raises(UserError, match=f"chmod 600 {tmp_path}/{name}"):
            _ = folder.signing_key() if name == "sa.key" else folder.authority("ca", "house", NOW)


def test_an_authority_without_its_key_is_not_replaced_in_silence(tmp_path: Path) -> None:
    with Root.open(tmp_path) as root:
        folder = TrustFolder(root, str(tmp_path))
        folder.authority("ca", "house", NOW)
        (tmp_path / "ca.key").unlink()
        with pytest.raises(UserError, match=r"put ca\.key back"):
            folder.authority("ca", "house", NOW)
        (tmp_path / "ca.key").write_text("?")
        (tmp_path / "ca.key").chmod(0o600)
        with pytest.raises(UserError, match="no authority of ours"):
            folder.authority("ca", "house", NOW)


@pytest.mark.parametrize("life", [timedelta(days=1), timedelta(hours=-1)])
async def test_strict_clients_and_expired_ones_reach_the_server(
    tmp_path: Path, life: timedelta
) -> None:
    """TLS lets an expired certificate through, so that its owner gets an answer."""
    now = datetime.now(UTC)
    authority = Authority.create("house", now - timedelta(days=1))
    with Root.open(tmp_path) as root:
        folder = TrustFolder(root, str(tmp_path))
        folder.write("server", authority.issue(Wanted.server("api", ["127.0.0.1"]), now))
        folder.write(
            "ann", authority.issue(ANN, now - timedelta(hours=2), timedelta(hours=2) + life)
        )
    (tmp_path / "ca.crt").write_bytes(authority.pair.certificate)
    shown: list[bytes] = []

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        shown.append(writer.get_extra_info("ssl_object").getpeercert(binary_form=True))
        writer.close()
        await writer.wait_closed()

    trusting = server_context(
        tmp_path / "server.crt", tmp_path / "server.key", [authority.pair.certificate]
    )
    client = ssl.create_default_context(cafile=str(tmp_path / "ca.crt"))
    client.verify_flags |= ssl.VerifyFlags.VERIFY_X509_STRICT  # what Python 3.13 does by itself
    client.load_cert_chain(tmp_path / "ann.crt", tmp_path / "ann.key")
    async with await asyncio.start_server(greet, "127.0.0.1", 0, ssl=trusting) as server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client)
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
    assert x509.load_der_x509_certificate(shown[0]).subject.rfc4514_string() == "CN=ann,O=dev,O=ops"
