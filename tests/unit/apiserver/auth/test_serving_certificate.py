"""The server's own certificate: whenever somebody connects, it has a good part of its life before it."""

import ssl
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from kubevirt.apiserver.auth.authority import Wanted
from kubevirt.apiserver.auth.folder import TrustFolder
from kubevirt.apiserver.auth.serving_certificate import ServingCertificate
from kubevirt.base.files import Root
from kubevirt.base.tasks import background
from kubevirt.base.virtual_time import VirtualClock

pytestmark = pytest.mark.virtual_time

DAY_S = 86_400.0


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[TrustFolder]:
    with Root.open(tmp_path) as root:
        yield TrustFolder(root, str(tmp_path))


@pytest.fixture
async def own(
    folder: TrustFolder, tmp_path: Path, virtual_clock: VirtualClock
) -> ServingCertificate:
    wanted = Wanted.server("kube-apiserver", ["127.0.0.1"])
    return ServingCertificate(folder, tmp_path, wanted, virtual_clock)


def end_of(context: ssl.SSLContext) -> datetime:
    """Of the certificate that somebody who connects now is shown."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    strangers = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    strangers.check_hostname = False
    strangers.verify_mode = ssl.CERT_NONE
    client = strangers.wrap_bio(to_client, to_server)
    server = context.wrap_bio(to_server, to_client, server_side=True)
    for side in (client, server, client, server):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    shown = client.getpeercert(binary_form=True)
    assert shown
    return x509.load_der_x509_certificate(shown).not_valid_after_utc


async def test_it_is_renewed_before_it_ends(
    own: ServingCertificate, virtual_clock: VirtualClock
) -> None:
    first = end_of(own.context)
    async with background(own.run()):
        await virtual_clock.sleep(200 * DAY_S)
        assert end_of(own.context) == first
        for _ in range(6):
            await virtual_clock.sleep(50 * DAY_S)
            assert end_of(own.context) - virtual_clock.now() > timedelta(days=100)


async def test_a_clock_that_jumps_is_noticed_within_an_hour(
    own: ServingCertificate, virtual_clock: VirtualClock
) -> None:
    async with background(own.run()):
        virtual_clock.jump_wall_clock(400 * DAY_S)
        await virtual_clock.sleep(3700)
        assert end_of(own.context) > virtual_clock.now()
        virtual_clock.jump_wall_clock(-800 * DAY_S)  # its beginning is in the future now
        await virtual_clock.sleep(3700)
        assert end_of(own.context) < virtual_clock.now() + timedelta(days=366)


async def test_what_could_not_be_renewed_is_tried_again(
    own: ServingCertificate, tmp_path: Path, virtual_clock: VirtualClock
) -> None:
    key = (tmp_path / "ca.key").read_bytes()
    async with background(own.run()):
        (tmp_path / "ca.key").unlink()
        await virtual_clock.sleep(300 * DAY_S)
        assert end_of(own.context) - virtual_clock.now() < timedelta(days=100)
        (tmp_path / "ca.key").write_bytes(key)
        (tmp_path / "ca.key").chmod(0o600)
        await virtual_clock.sleep(3700)
        assert end_of(own.context) - virtual_clock.now() > timedelta(days=300)


async def test_the_next_server_goes_on_with_it(
    own: ServingCertificate, folder: TrustFolder, tmp_path: Path, virtual_clock: VirtualClock
) -> None:
    wanted = Wanted.server("kube-apiserver", ["127.0.0.1"])
    again = ServingCertificate(folder, tmp_path, wanted, virtual_clock)
    assert end_of(again.context) == end_of(own.context)
    other = Wanted.server("kube-apiserver", ["127.0.0.1", "api.house.example"])
    ServingCertificate(folder, tmp_path, other, virtual_clock)
    assert b"api.house.example" in ssl.PEM_cert_to_DER_cert(
        (tmp_path / "apiserver.crt").read_text()
    )
