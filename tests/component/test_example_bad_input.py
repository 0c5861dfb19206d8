"""The example controller, where it can do nothing: one sentence, and never a stack trace.

What only its user can mend ends it. A server that may yet be mended is told of once and asked again.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.tls_servers import LOOPBACK, context_of
from tests.unit.kube.scripted_server import ScriptedServer, refuses, shows

from clusterup.certificates import Authority, Validity
from kubevirt.base import commands

EXAMPLE = Path(__file__).parents[2] / "examples" / "controller" / "clone.py"
LIMIT_S = 60.0
CONFIG_MAPS = "/api/v1/configmaps"
NO_SERVER = "http://127.0.0.1:1"


def kubeconfig(
    folder: Path,
    server: str,
    *,
    current: str = "lab",
    user: dict[str, str] | None = None,
    ca: str = "",
) -> Path:
    path = folder / "kubeconfig"
    cluster = {"server": server} | ({"certificate-authority": ca} if ca else {})
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "lab", "cluster": cluster}],
        "users": [{"name": "ann", "user": user or {}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "ann"}}],
        "current-context": current,
    }
    path.write_text(json.dumps(content))
    return path


async def last_words(config: Path, *words: str) -> str:
    """Of the example, which ends with an error."""
    done = await commands.run(
        *(sys.executable, str(EXAMPLE), *words),
        env={"KUBECONFIG": str(config)},
        timeout_s=LIMIT_S,
        check=False,
    )
    assert done.exit_code == 1
    return done.stderr.decode()


@asynccontextmanager
async def complaint(config: Path) -> AsyncIterator[str]:
    """What the example says first; it goes on trying meanwhile, and says no more."""
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, EXAMPLE, "from", "to"),
        env={"KUBECONFIG": str(config)},
        stderr=subprocess.PIPE,
    )
    assert program.stderr is not None
    try:
        async with asyncio.timeout(LIMIT_S):
            said = (await program.stderr.readline()).decode()
        yield said
        assert program.returncode is None
    finally:
        if program.returncode is None:
            program.kill()
        rest = await program.stderr.read()
        await program.wait()
    assert rest == b""


async def test_without_two_namespaces_it_shows_how_it_is_used(tmp_path: Path) -> None:
    said = await last_words(kubeconfig(tmp_path, NO_SERVER), "from")
    assert said.endswith("python clone.py FROM TO.\n")
    assert len(said.splitlines()) == 1


async def test_a_broken_kubeconfig_ends_it_with_a_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "kubeconfig"
    broken.write_text("clusters: [\n")
    said = await last_words(broken, "from", "to")
    assert str(broken) in said
    assert len(said.splitlines()) == 1


async def test_a_wrong_context_ends_it_with_a_sentence(tmp_path: Path) -> None:
    said = await last_words(kubeconfig(tmp_path, NO_SERVER, current="moon"), "from", "to")
    assert "moon" in said
    assert "lab" in said, "those that there are"
    assert len(said.splitlines()) == 1


async def test_a_server_that_cannot_be_reached_is_told_of_and_asked_again(tmp_path: Path) -> None:
    async with complaint(kubeconfig(tmp_path, NO_SERVER)) as said:
        assert f"{NO_SERVER} refuses connections; check that the server runs" in said


async def test_a_server_that_shows_a_web_page_is_told_of_and_asked_again(tmp_path: Path) -> None:
    async with ScriptedServer().running() as server:
        server.on("GET", CONFIG_MAPS, shows("<html>log in</html>", content_type="text/html"))
        async with complaint(kubeconfig(tmp_path, server.url)) as said:
            assert f"{server.url} is not a Kubernetes API: it answered with a web page" in said


async def test_a_kind_that_the_server_does_not_have_is_told_of_and_asked_for_again(
    tmp_path: Path,
) -> None:
    async with (
        ScriptedServer().running() as server,
        complaint(kubeconfig(tmp_path, server.url)) as said,
    ):
        assert "has no configmaps in version v1" in said


async def test_an_expired_certificate_is_told_of_with_its_day_and_shown_again(
    tmp_path: Path,
) -> None:
    authority = Authority.create("test authority")
    (tmp_path / "ca.crt").write_bytes(authority.pair.certificate)
    long_ago = datetime(2020, 5, 17, 8, 30, tzinfo=UTC)
    validity = Validity(long_ago, long_ago + timedelta(hours=1))
    certificate, key = authority.client("ann", validity=validity).write(tmp_path, "ann")
    user = {"client-certificate": str(certificate), "client-key": str(key)}
    async with ScriptedServer().running(
        context_of(authority.server("server", [LOOPBACK]))
    ) as server:
        server.on("GET", CONFIG_MAPS, refuses(401, "Unauthorized"))
        config = kubeconfig(tmp_path, server.url, user=user, ca=str(tmp_path / "ca.crt"))
        async with complaint(config) as said:
            assert "does not let us in" in said
            assert "expired on 2020-05-17" in said
