"""Images of a home: what lies here, what a registry has, and what a user reads when neither does."""

import asyncio
import base64
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from aiohttp import web
from tests.component.embedded.runtime.containers import IS_ROOT, ONLY_ROOT
from tests.component.host.images import Image as Packed
from tests.component.host.images import entry, layer
from tests.component.host.registries import (
    PASSWORD,
    USER,
    Served,
    docker_registry,
    free_port,
    push,
    stranger,
)

from kubevirt.base.clock import Clock
from kubevirt.embedded.node.neighbours import Image, ImageConfig, NotNow
from kubevirt.embedded.runtime.images.settings import ImageSettings
from kubevirt.embedded.runtime.images.store import ImageStore

pytestmark = pytest.mark.skipif(not IS_ROOT, reason=ONLY_ROOT)

DEMO = Packed([layer(("bin/sh", b"#!"))], run={"Cmd": ["sh"]})
DAY_S = 86400


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> ImageStore:
    (tmp_path / "images/archives").mkdir(parents=True)
    return ImageStore(ImageSettings(folder=tmp_path / "images"), clock)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "images"


async def refused(store: ImageStore, name: str, policy: str = "IfNotPresent") -> NotNow:
    with pytest.raises(NotNow) as caught:
        await store.get(name, policy)
    return caught.value


def shell_of(image: Image) -> bytes:
    assert image.root is not None
    return (image.root / "bin/sh").read_bytes()


# The built-in image


@pytest.mark.parametrize("name", ["kubevirt.io/built-in", "kubevirt.io/built-in:2"])
@pytest.mark.parametrize("policy", ["Always", "IfNotPresent", "Never"])
async def test_the_built_in_image_is_always_there(
    store: ImageStore, name: str, policy: str
) -> None:
    image = await store.get(name, policy)

    assert image.root is None
    assert any(each.startswith("PATH=/") for each in image.config.environment)


# What lies here


@pytest.mark.parametrize("policy", ["Always", "IfNotPresent", "Never"])
@pytest.mark.parametrize("name", ["kubevirt/demo", "docker.io/kubevirt/demo:latest"])
async def test_an_archive_needs_no_registry_whatever_the_policy(
    store: ImageStore, folder: Path, name: str, policy: str
) -> None:
    DEMO.archive(folder / "archives/anything.tar")

    image = await store.get(name, policy)

    assert shell_of(image) == b"#!"
    assert image.id == f"docker.io/kubevirt/demo@{DEMO.digest}"
    assert image.config == ImageConfig(command=("sh",))


async def test_an_archive_of_docker_serves_too(store: ImageStore, folder: Path) -> None:
    DEMO.docker_archive(folder / "archives/demo.tar")

    assert shell_of(await store.get("kubevirt/demo", "Always")) == b"#!"


async def test_a_layout_serves_too(store: ImageStore, folder: Path) -> None:
    DEMO.folder(folder / "layout")

    assert shell_of(await store.get("kubevirt/demo", "Always")) == b"#!"
    by_digest = await store.get(f"kubevirt/demo@{DEMO.digest}", "Never")
    assert shell_of(by_digest) == b"#!"


async def test_who_asks_for_another_digest_hears_which_one_lies_here(
    store: ImageStore, folder: Path
) -> None:
    path = folder / "archives/127.0.0.1:1/demo:1.tar"
    path.parent.mkdir()
    path.write_bytes(layer(*{**DEMO.files(), "index.json": DEMO.index("")}.items()))
    told = await refused(store, f"127.0.0.1:1/demo@sha256:{'0' * 64}")
    assert told.reason == "ErrImagePull"
    assert f"what lies here under that name is {DEMO.digest}" in told.message


async def test_an_archive_elsewhere_serves_where_it_lies(tmp_path: Path, clock: Clock) -> None:
    DEMO.archive(tmp_path / "guest.tar")
    settings = ImageSettings(folder=tmp_path / "images", archives=[tmp_path / "guest.tar"])

    assert shell_of(await ImageStore(settings, clock).get("kubevirt/demo", "Always")) == b"#!"


async def test_an_archive_without_a_name_is_known_by_where_it_lies(
    store: ImageStore, folder: Path
) -> None:
    (folder / "archives/example.com/tools").mkdir(parents=True)
    nameless = Packed(DEMO.layers)
    files = {**nameless.files(), "index.json": _index_without_names(nameless)}
    (folder / "archives/example.com/tools/shell:2.tar").write_bytes(layer(*files.items()))

    assert shell_of(await store.get("example.com/tools/shell:2", "Never")) == b"#!"
    assert (await refused(store, "example.com/tools/shell:3", "Never")).reason == (
        "ErrImageNeverPull"
    )


def _index_without_names(image: Packed) -> bytes:
    return json.dumps({"schemaVersion": 2, "manifests": [image.descriptor]}).encode()


async def test_an_archive_that_knows_only_a_tag_does_not_answer_for_others(
    store: ImageStore, folder: Path
) -> None:
    files = {**DEMO.files(), "index.json": DEMO.index("latest")}
    (folder / "archives/demo.tar").write_bytes(layer(*files.items()))

    assert (await refused(store, "kubevirt/other", "Never")).reason == "ErrImageNeverPull"


async def test_an_archive_that_was_written_anew_is_read_anew(
    store: ImageStore, folder: Path
) -> None:
    DEMO.archive(folder / "archives/demo.tar")
    before = await store.get("kubevirt/demo", "Always")

    newer = Packed([layer(("bin/sh", b"#!!"))])
    newer.archive(folder / "draft")
    (folder / "draft").rename(folder / "archives/demo.tar")
    after = await store.get("kubevirt/demo", "Always")

    assert (shell_of(before), shell_of(after)) == (b"#!", b"#!!")


async def test_an_archive_that_cannot_be_read_hinders_no_other_and_is_told_of(
    store: ImageStore, folder: Path
) -> None:
    (folder / "archives/a.tar").write_bytes(b"nonsense" * 1000)
    DEMO.archive(folder / "archives/b.tar")

    assert shell_of(await store.get("kubevirt/demo", "Always")) == b"#!"
    said = await refused(store, f"localhost:{free_port()}/nothing", "Always")
    assert "a.tar" in said.message


async def test_an_image_that_is_hostile_is_refused_with_the_reason(
    store: ImageStore, folder: Path
) -> None:
    Packed([layer(entry("../../out"))]).archive(folder / "archives/demo.tar")

    said = await refused(store, "kubevirt/demo")

    assert said.reason == "ErrImagePull"
    assert "../../out" in said.message
    assert list((folder / "roots/images").iterdir()) == []


# Registries


needs_a_registry = pytest.mark.skipif(
    not shutil.which("docker-registry"), reason="no docker-registry: install docker-registry"
)


def here(url: str) -> str:
    return url.removeprefix("http://")


@needs_a_registry
async def test_an_image_is_pulled_once_and_then_present(
    store: ImageStore, tmp_path: Path, clock: Clock
) -> None:
    async with docker_registry(tmp_path) as url:
        await push(url, "team/demo", DEMO)
        name = f"{here(url)}/team/demo"
        assert (await refused(store, name, "Never")).reason == "ErrImageNeverPull"

        image = await store.get(name, "IfNotPresent")
        assert shell_of(image) == b"#!"

    # The registry is gone, and so is the process that pulled.
    later = ImageStore(ImageSettings(folder=tmp_path / "images"), clock)
    assert image.is_pulled
    present = msgspec.structs.replace(image, is_pulled=False)
    assert await later.get(name, "IfNotPresent") == present
    assert await later.get(name, "Never") == present
    assert (await refused(later, name, "Always")).reason == "ErrImagePull"
    left = [each for each in (tmp_path / "images/downloads").iterdir() if each.suffix != ".lock"]
    assert left == []


@needs_a_registry
async def test_always_takes_what_the_registry_has_now(store: ImageStore, tmp_path: Path) -> None:
    async with docker_registry(tmp_path) as url:
        name = f"{here(url)}/team/demo"
        await push(url, "team/demo", DEMO)
        await store.get(name, "Always")
        await push(url, "team/demo", Packed([layer(("bin/sh", b"#!!"))]))

        assert shell_of(await store.get(name, "IfNotPresent")) == b"#!"
        assert shell_of(await store.get(name, "Always")) == b"#!!"
        assert shell_of(await store.get(name, "IfNotPresent")) == b"#!!"


def login(**more: str) -> Mapping[str, str]:
    return {"username": USER, "password": PASSWORD, **more}


def basic(user: str, password: str) -> Mapping[str, str]:
    return {"auth": base64.b64encode(f"{user}:{password}".encode()).decode()}


@needs_a_registry
async def test_a_pull_secret_opens_the_door_and_a_wrong_one_is_told(
    store: ImageStore, tmp_path: Path
) -> None:
    async with docker_registry(tmp_path, protected=True) as url:
        await push(url, "team/demo", DEMO)
        name = f"{here(url)}/team/demo"

        def secret(place: str, entry: Mapping[str, str]) -> bytes:
            return json.dumps({"auths": {place: entry}}).encode()

        wrong = secret(here(url), basic(USER, "wrong"))
        right = secret(f"http://{here(url)}/team", basic(USER, PASSWORD))
        others = secret("registry.example", login())
        for secrets in ([], [wrong], [others], [b"nonsense"]):
            with pytest.raises(NotNow) as caught:
                await store.get(name, "Always", secrets)
            assert caught.value.reason == "ErrImagePull"
            assert "pull secret" in caught.value.message
            assert PASSWORD not in caught.value.message

        assert shell_of(await store.get(name, "Always", [others, wrong, right])) == b"#!"
        assert shell_of(await store.get(name, "Always", [secret(here(url), login())])) == b"#!"


async def test_those_who_want_an_image_at_once_pull_it_once(store: ImageStore) -> None:
    served = Served(DEMO)
    async with stranger(served) as url:
        name = f"{here(url)}/team/demo"
        found = await asyncio.gather(*(store.get(name, "IfNotPresent") for _ in range(20)))

        assert len({each.root for each in found}) == 1
        assert len(served.asked) == 3  # a manifest, a configuration, a layer


async def test_those_who_wait_for_a_pull_in_vain_are_told_the_same(store: ImageStore) -> None:
    asked = []

    async def missing(request: web.BaseRequest) -> web.StreamResponse:
        asked.append(request)
        return web.Response(status=404)

    async with stranger(missing) as url:
        name = f"{here(url)}/team/demo"
        found = await asyncio.gather(
            *(store.get(name, "Always") for _ in range(20)), return_exceptions=True
        )

    assert len(asked) < len(found)  # who comes when the answer is there asks anew
    assert {str(each) for each in found} == {
        f"image {name}:latest cannot be pulled: the registry has no such manifest"
    }


async def test_who_gives_up_waiting_does_not_end_the_pull_of_others(store: ImageStore) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Served):
        async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
            begun.set()
            await go_on.wait()
            return await super().__call__(request)

    async with stranger(Slow(DEMO)) as url, asyncio.TaskGroup() as tasks:
        name = f"{here(url)}/team/demo"
        first = tasks.create_task(store.get(name, "Always"))
        await begun.wait()
        second = tasks.create_task(store.get(name, "Always"))
        await asyncio.sleep(0)
        first.cancel()
        go_on.set()
        assert shell_of(await second) == b"#!"


async def test_a_registry_that_is_not_there_is_told_by_name(store: ImageStore) -> None:
    name = f"localhost:{free_port()}/team/demo"

    said = await refused(store, name, "Always")

    assert said.reason == "ErrImagePull"
    assert name in said.message


async def test_only_a_registry_of_this_machine_is_asked_without_encryption(
    tmp_path: Path, clock: Clock
) -> None:
    async with stranger(Served(DEMO)) as url:
        mirrors = {"quay.io": url}
        store = ImageStore(ImageSettings(folder=tmp_path / "images", mirrors=mirrors), clock)
        assert shell_of(await store.get("quay.io/team/demo", "Always")) == b"#!"
        plain = ImageStore(ImageSettings(folder=tmp_path / "images"), clock)

        said = await refused(plain, f"127.0.0.2:{here(url).rpartition(':')[2]}/team/demo", "Always")

    assert said.reason == "ErrImagePull"
    assert "127.0.0.2" in said.message


@pytest.mark.parametrize("name", ["No Name At All", "", "UPPER/case", "a/../b", "x" * 600, "a@b"])
async def test_a_name_that_is_none_is_told_so(store: ImageStore, name: str) -> None:
    said = await refused(store, name)

    assert said.reason == "InvalidImageName"


# What goes


async def test_an_image_goes_that_nobody_used_for_long(
    store: ImageStore, folder: Path, clock: Clock
) -> None:
    images = {}
    for number, name in enumerate(("old", "needed", "recent")):
        packed = Packed([layer(("bin/sh", name.encode()))])
        files = {**packed.files(), "index.json": packed.index(f"example.com/{name}:1")}
        (folder / f"archives/{number}.tar").write_bytes(layer(*files.items()))
        images[name] = await store.get(f"example.com/{name}:1", "Never")
    long_ago = clock.now().timestamp() - 20 * DAY_S
    for name in ("old", "needed"):
        os.utime(_folder_of(images[name]), (long_ago, long_ago))
    (folder / "roots/work/half").mkdir()
    needed = images["needed"].root
    assert needed is not None

    await store.collect([needed])

    left = {name for name, image in images.items() if _folder_of(image).exists()}
    assert left == {"needed", "recent"}
    assert list((folder / "roots/work").iterdir()) == []
    assert shell_of(await store.get("example.com/old:1", "Never")) == b"old"  # it comes again


def _folder_of(image: Image) -> Path:
    assert image.root is not None
    return image.root.parent
