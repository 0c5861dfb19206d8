"""Root in a pod of a home looks for what is secret of the home and of its machine, in all that it can see."""

import base64
import json
import secrets
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.component.embedded.process.conftest import Virtctl
from tests.component.embedded.process.pods import api, log, pod, until

from kubevirt.api.scheme import PODS, SECRETS
from kubevirt.embedded.home import Home

pytestmark = pytest.mark.timeout(240)

PROGRAM = Path(__file__).parent / "seeking_program.py"
MACHINES = ("/etc/shadow", "/etc/gshadow", "/etc/ssh/ssh_host_*_key", "/root/.ssh/*")
CONTROL = secrets.token_bytes(16)


async def test_root_in_a_pod_finds_nothing_secret_in_all_that_it_can_see(virtctl: Virtctl) -> None:
    began = time.time() - 1
    virtctl.up()
    treasure = secrets.token_hex(16)
    async with api(virtctl) as client:
        secret = {"metadata": {"name": "treasure"}, "stringData": {"treasure": treasure}}
        await client.create(SECRETS, secret, "default")
        sought = dict(texts(virtctl.home, treasure)) | {"control": CONTROL}
        seeking = pod("seeking", "", policy="Never", volumes=[{"name": "own", "emptyDir": {}}])
        seeking["spec"]["containers"][0] |= {
            "command": ["python3", "-c", PROGRAM.read_text()],
            "env": environment(sought, files(virtctl.home), began),
            "volumeMounts": [{"name": "own", "mountPath": "/tmp"}],
        }
        await client.create(PODS, seeking, "default")
        ended = await until(
            client, "seeking", lambda it: it.status.phase in ("Failed", "Succeeded")
        )
        said = "\n".join(await log(client, "seeking"))
    assert ended.status.phase == "Succeeded", said
    # It can see, and has looked everywhere: what it has hidden itself is found, and nothing else.
    assert json.loads(said) == [["control", "/tmp/control"]]


def texts(home: Home, treasure: str) -> Iterator[tuple[str, bytes]]:
    """Something of each secret that is nowhere else."""
    keys = [each for each in home.pki.iterdir() if b"PRIVATE KEY" in each.read_bytes()]
    assert keys
    for key in keys:
        yield key.name, key.read_bytes().splitlines()[1]
    [user] = yaml.safe_load(home.kubeconfig.read_text())["users"]
    yield "kubeconfig", user["user"]["client-key-data"][100:164].encode()
    in_store = base64.b64encode(treasure.encode())
    stores = list(home.path.glob(f"{home.store.name}*"))
    assert any(in_store in each.read_bytes() for each in stores)
    yield "store", in_store
    yield "store, decoded", treasure.encode()
    yield "/etc/shadow", Path("/etc/shadow").read_bytes().splitlines()[0]


def files(home: Home) -> list[Path]:
    """That nobody in a pod may see, whatever is in them."""
    own = [*home.pki.iterdir(), *(each for each in home.path.iterdir() if each.is_file())]
    return [*own, *(each for text in MACHINES for each in Path("/").glob(text.removeprefix("/")))]


def environment(
    sought: Mapping[str, bytes], hidden: list[Path], since: float
) -> list[dict[str, Any]]:
    found = [each.stat() for each in hidden]
    values = {
        "SECRETS": json.dumps({name: text[::-1].hex() for name, text in sought.items()}),
        "FILES": json.dumps([[each.st_dev, each.st_ino] for each in found]),
        "SINCE": str(since),
    }
    return [{"name": name, "value": value} for name, value in values.items()]
