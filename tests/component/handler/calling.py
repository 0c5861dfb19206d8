"""virt-api, as far as a node knows it: somebody with the right certificate."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import aiohttp

from kubevirt.apiserver.auth.authority import Authority, Pair, Wanted
from kubevirt.components.handler.settings import CLIENT

NAME = "virt-handler.kubevirt.svc"
LIMIT_S = 200.0


class Certificates:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._folder.mkdir(exist_ok=True)
        self._now = datetime.now(UTC)
        self._authority = Authority.create("test", self._now)
        (folder / "ca.pem").write_bytes(self._authority.pair.certificate)

    def server(self) -> ssl.SSLContext:
        context = ssl.create_default_context(
            ssl.Purpose.CLIENT_AUTH, cafile=self._folder / "ca.pem"
        )
        context.verify_mode = ssl.CERT_REQUIRED
        return self._with(context, self._issued(Wanted.server(NAME, [NAME])))

    def client(self, name: str | None = CLIENT) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self._folder / "ca.pem")
        return self._with(context, self._issued(Wanted.client(name))) if name else context

    def _issued(self, wanted: Wanted) -> Pair:
        return self._authority.issue(wanted, self._now)

    def _with(self, context: ssl.SSLContext, pair: Pair) -> ssl.SSLContext:
        file = self._folder / "pair.pem"
        file.write_bytes(pair.certificate + pair.key)
        context.load_cert_chain(file)
        return context


class Caller:
    def __init__(self, session: aiohttp.ClientSession, tls: ssl.SSLContext, port: int) -> None:
        self._session = session
        self._tls = tls
        self._url = f"https://127.0.0.1:{port}/v1/namespaces/default/virtualmachineinstances"

    async def call(self, method: str, what: str, vmi: str = "testvm") -> tuple[int, bytes]:
        async with self._session.request(
            method, f"{self._url}/{vmi}/{what}", ssl=self._tls, server_hostname=NAME
        ) as answer:
            return answer.status, await answer.read()

    @asynccontextmanager
    async def line(self, what: str, vmi: str = "testvm") -> AsyncIterator["Line"]:
        async with self._session.ws_connect(
            f"{self._url}/{vmi}/{what}",
            ssl=self._tls,
            server_hostname=NAME,
            protocols=("plain.kubevirt.io",),
        ) as socket:
            yield Line(socket)


class Line:
    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.text = ""

    async def says(self, words: str, limit_s: float = LIMIT_S) -> None:
        """Reads until the guest has said so."""
        try:
            async with asyncio.timeout(limit_s):
                while words not in self.text:
                    self.text += (await self.socket.receive_bytes()).decode(errors="replace")
        except TimeoutError:
            raise AssertionError(f"no {words!r} in: {self.text[-2000:]}") from None
        self.text = self.text.partition(words)[2]

    async def type(self, text: str) -> None:
        await self.socket.send_bytes(text.encode())

    async def wakes(self, words: str, limit_s: float = LIMIT_S) -> None:
        """Presses Return until the guest says so: what it said before we came is gone."""
        async with asyncio.timeout(limit_s):
            while words not in self.text:
                await self.type("\n")
                try:
                    async with asyncio.timeout(2):
                        self.text += (await self.socket.receive_bytes()).decode(errors="replace")
                except TimeoutError:
                    continue
        self.text = ""


@asynccontextmanager
async def caller(tls: ssl.SSLContext, port: int | None) -> AsyncIterator[Caller]:
    assert port is not None
    connector = aiohttp.TCPConnector(force_close=True)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield Caller(session, tls, port)
