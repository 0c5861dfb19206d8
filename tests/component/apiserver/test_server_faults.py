"""A machine that fails its server: no room on the disk, a clock that jumps, certificates that end."""

import asyncio
import os
import ssl
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from tests.component.apiserver.program import Program, a_session

from clusterup import waiting
from kubevirt.apiserver.auth.access import AccessSettings
from kubevirt.apiserver.auth.authority import Wanted, signing_key
from kubevirt.apiserver.auth.folder import TrustFolder
from kubevirt.apiserver.auth.serving_certificate import ServingCertificate
from kubevirt.apiserver.server import ADMINISTRATOR, ApiServer, ServerSettings, serving
from kubevirt.base.clock import SystemClock
from kubevirt.base.files import Root

MAPS = "/api/v1/namespaces/default/configmaps"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
LIMIT_S = 60.0


async def asked(
    session: aiohttp.ClientSession, method: str, url: str, body: Any = None
) -> tuple[int, Any]:
    async with session.request(method, url, json=body) as answer:
        return answer.status, await answer.json()


def remove(path: Path) -> None:
    path.unlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a small file system")
async def test_on_a_full_disk_reads_go_on_and_writes_come_back_with_room(
    tmp_path: Path, a_port: int
) -> None:
    program = Program(tmp_path / "data", a_port)
    program.folder.mkdir()
    mount = f"mount -t tmpfs -o size=8m store {program.folder} && head -c 2M /dev/zero"
    script = f'{mount} > {program.folder}/ballast && exec "$@"'
    within = ("unshare", "--mount", "sh", "-c", script, "sh")
    body = {"metadata": {"generateName": "x-"}, "data": {"x": "y" * 100_000}}
    async with program.running(within=within) as process, a_session() as session:
        await program.ready(process, session)
        made = []
        async with asyncio.timeout(LIMIT_S):
            while True:
                code, found = await asked(session, "POST", program.url + MAPS, body)
                if code != 201:
                    break
                made.append(found["metadata"]["name"])
        assert (code, found["reason"]) == (507, "InsufficientStorage")
        assert found["message"] == "the disk of the API server is full; make room and try again"
        code, found = await asked(session, "GET", program.url + MAPS)
        names = {each["metadata"]["name"] for each in found["items"]}
        assert set(made) <= names, "what was acknowledged is there"
        remove(Path(f"/proc/{process.pid}/root{program.folder}/ballast"))

        async def is_written() -> bool:
            return (await asked(session, "POST", program.url + MAPS, body))[0] == 201

        await waiting.until(is_written, limit_s=LIMIT_S, what="there is room again")
    assert "Traceback" not in program.log.read_text()


class JumpingClock(SystemClock):
    """Its wall time can be set; deadlines never look at it."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self.ahead


async def test_a_clock_that_jumps_ends_tokens_and_nothing_else(tmp_path: Path) -> None:
    clock = JumpingClock()
    settings = ServerSettings(
        data=tmp_path / "store.db",
        access=AccessSettings(signing_key=signing_key(), known_tokens={"admin": ADMINISTRATOR}),
    )
    admin = {"Authorization": "Bearer admin"}
    async with (
        asyncio.timeout(LIMIT_S),
        serving(settings, clock=clock) as server,
        aiohttp.ClientSession(headers=admin) as session,
    ):
        url = server.url
        await asked(session, "POST", url + ACCOUNTS, {"metadata": {"name": "me"}})
        wanted = {"spec": {"expirationSeconds": 3600}}
        _, token = await asked(session, "POST", f"{url}{ACCOUNTS}/me/token", wanted)
        bearer = {"Authorization": f"Bearer {token['status']['token']}"}
        async with (
            aiohttp.ClientSession(headers=bearer) as other,
            session.get(f"{url}{MAPS}?watch=1&resourceVersion=0") as watch,
        ):
            versions: list[int] = []
            for hours, code in ((0, 403), (2, 401), (0, 403), (24 * 365, 401), (0, 403)):
                clock.ahead = timedelta(hours=hours)
                assert (await asked(other, "GET", url + MAPS))[0] == code
                made = {"metadata": {"name": f"after-{len(versions)}"}}
                _, found = await asked(session, "POST", url + MAPS, made)
                versions.append(int(found["metadata"]["resourceVersion"]))
                born = datetime.fromisoformat(found["metadata"]["creationTimestamp"])
                assert abs(born - clock.now()) < timedelta(seconds=60)
            clock.ahead = timedelta(days=-3650)
            _, found = await asked(session, "POST", url + MAPS, {"metadata": {"name": "before"}})
            versions.append(int(found["metadata"]["resourceVersion"]))
            assert versions == sorted(set(versions)), "versions know no time"
            names = set()
            while "before" not in names:
                event = msgspec.json.decode(await watch.content.readline())
                names.add(event["object"]["metadata"]["name"])
            assert {f"after-{n}" for n in range(5)} <= names, "nobody who watches missed anything"


async def test_a_server_renews_its_certificate_while_it_serves(tmp_path: Path) -> None:
    clock = JumpingClock()
    clock.ahead = timedelta(days=-300)  # when it was made
    with Root.open(tmp_path) as root:
        wanted = Wanted.server("kube-apiserver", ["127.0.0.1"])
        own = ServingCertificate(TrustFolder(root, str(tmp_path)), tmp_path, wanted, clock)
        settings = ServerSettings(
            data=tmp_path / "store.db", certificate=own, tokens={"admin": ADMINISTRATOR}
        )
        async with asyncio.timeout(LIMIT_S), serving(settings, clock=clock) as server:
            assert server.url.startswith("https://")
            first, connection = await shown_by(server, tmp_path)
            clock.ahead = timedelta()
            own.renew()
            second, other = await shown_by(server, tmp_path)
            assert second != first
            for each in (connection, other):  # the old connection goes on
                each.write(b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                each.close()


async def shown_by(server: ApiServer, folder: Path) -> tuple[bytes, asyncio.StreamWriter]:
    """The certificate that whoever connects is shown, and their connection."""
    trust = ssl.create_default_context(cafile=str(folder / "ca.crt"))
    _, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=trust)
    shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    return shown, writer
