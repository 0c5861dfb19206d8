"""Pulls from Debian's docker-registry, and from servers that behave as no registry should."""

import gzip
import json
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from tests.component.host.images import Image, digest, disk, layer, multi_platform
from tests.component.host.registries import (
    PASSWORD,
    USER,
    Served,
    docker_registry,
    push,
    push_manifest,
    stranger,
)

from kubevirt.base.clock import Clock
from kubevirt.host.oci.authorization import Credentials
from kubevirt.host.oci.cache import ImageCache
from kubevirt.host.oci.errors import ContainerImageError, RegistryError
from kubevirt.host.oci.limits import UnpackLimits
from kubevirt.host.oci.manifest import OCI_INDEX, OCI_MANIFEST, this_machine
from kubevirt.host.oci.registry import Registry, RegistrySettings
from kubevirt.host.oci.unpacked import UnpackedImage

needs_a_registry = pytest.mark.skipif(
    not shutil.which("docker-registry"), reason="no docker-registry: install docker-registry"
)
MIB = 1 << 20
KNOWN = {"quay.io": Credentials(user=USER, password=PASSWORD)}


class Puller:
    """A machine that pulls what is called quay.io/kubevirt/demo from a server of the test."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.folder = folder
        self.clock = clock
        self.told: list[int] = []

    @property
    def layers(self) -> list[str]:
        found = (self.folder / "layers").glob("*")
        return sorted(each.name for each in found if each.suffix != ".lock")

    async def pull(
        self,
        url: str,
        name: str = "quay.io/kubevirt/demo",
        *,
        credentials: dict[str, Credentials] | None = None,
        limits: UnpackLimits | None = None,
    ) -> UnpackedImage:
        settings = RegistrySettings(
            addresses={"quay.io": url}, credentials=credentials or {}, pause_s=0.01, silence_s=2
        )
        images = ImageCache(self.folder / "cache", self.clock, limits=limits or UnpackLimits())
        async with Registry(self.folder / "layers", self.clock, settings) as registry:
            return await images.unpacked(
                registry, name, progress=lambda done, _: self.told.append(done)
            )


@pytest.fixture
def puller(tmp_path: Path, clock: Clock) -> Puller:
    return Puller(tmp_path, clock)


@pytest.fixture
async def registry(tmp_path: Path) -> AsyncIterator[str]:
    async with docker_registry(tmp_path) as url:
        yield url


def content(path: Path) -> bytes:
    return path.read_bytes()


def an_image(size: int = 3 * MIB) -> Image:
    return Image([gzip.compress(disk(os.urandom(size)), 1), layer(("etc/name", b"demo"))])


@needs_a_registry
async def test_an_image_is_pulled_and_its_layers_do_not_stay(puller: Puller, registry: str) -> None:
    image = an_image()
    await push(registry, "kubevirt/demo", image)
    pulled = await puller.pull(registry)
    assert pulled.digest == image.digest
    assert len(content(pulled.disk())) == 3 * MIB
    assert puller.told == sorted(puller.told)
    assert puller.told[-1] == sum(map(len, image.layers))
    assert puller.layers == []


@needs_a_registry
async def test_an_image_is_pulled_by_digest_and_by_tag(puller: Puller, registry: str) -> None:
    old, new = Image([disk(b"old")]), Image([disk(b"new")])
    await push(registry, "kubevirt/demo", old, tag="v1")
    await push(registry, "kubevirt/demo", new, tag="latest")
    assert content((await puller.pull(registry, "quay.io/kubevirt/demo:v1")).disk()) == b"old"
    assert content((await puller.pull(registry, "quay.io/kubevirt/demo")).disk()) == b"new"
    pinned = f"quay.io/kubevirt/demo:latest@{old.digest}"
    assert content((await puller.pull(registry, pinned)).disk()) == b"old"


@needs_a_registry
async def test_the_image_for_this_machine_is_pulled(puller: Puller, registry: str) -> None:
    ours, theirs = Image([disk(b"ours")]), Image([disk(b"theirs")])
    for image in (ours, theirs):
        await push(registry, "kubevirt/demo", image, tag=image.digest)
    index, _ = multi_platform([(theirs, "vax"), (ours, this_machine().architecture)])
    await push_manifest(registry, "kubevirt/demo", index, OCI_INDEX, "latest")
    pulled = await puller.pull(registry)
    assert content(pulled.disk()) == b"ours"
    assert pulled.digest == ours.digest


@needs_a_registry
async def test_an_image_that_is_not_there(puller: Puller, registry: str) -> None:
    with pytest.raises(ContainerImageError, match="the registry has no such manifest") as caught:
        await puller.pull(registry)
    assert caught.value.reason == "ImageNotFound"


@needs_a_registry
async def test_a_password_opens_what_is_closed_without(puller: Puller, tmp_path: Path) -> None:
    async with docker_registry(tmp_path, protected=True) as url:
        await push(url, "kubevirt/demo", an_image())
        with pytest.raises(ContainerImageError, match="asks who we are; give a pull secret"):
            await puller.pull(url)
        wrong = {"quay.io": Credentials(user=USER, password="wrong")}
        with pytest.raises(ContainerImageError, match="does not let us; check the name"):
            await puller.pull(url, credentials=wrong)
        assert (await puller.pull(url, credentials=KNOWN)).disk().exists()


async def test_nobody_answers(puller: Puller) -> None:
    with pytest.raises(RegistryError, match="cannot be pulled now: "):
        await puller.pull("http://127.0.0.1:1")


# Servers that misbehave.


async def test_a_token_is_fetched_and_shown(puller: Puller) -> None:
    class WithToken(Served):
        async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
            if request.path == "/token":
                assert request.query["scope"] == "repository:kubevirt/demo:pull"
                assert request.headers["Authorization"].startswith("Basic ")
                return web.json_response({"token": "t0ken"})
            if request.headers.get("Authorization") != "Bearer t0ken":
                realm = f'realm="http://{request.host}/token",service="s"'
                scope = 'scope="repository:kubevirt/demo:pull"'
                headers = {"WWW-Authenticate": f"Bearer {realm},{scope}"}
                return web.Response(status=401, headers=headers)
            return await super().__call__(request)

    async with stranger(WithToken(Image([disk(b"mine")]))) as url:
        pulled = await puller.pull(url, credentials=KNOWN)
    assert content(pulled.disk()) == b"mine"


async def test_a_password_follows_nobody_to_another_server(puller: Puller) -> None:
    image = Image([disk()])
    store = Served(image)

    class Redirecting(Served):
        async def blob(self, request: web.BaseRequest, data: bytes) -> web.StreamResponse:
            assert "Authorization" in request.headers
            raise web.HTTPTemporaryRedirect(f"{elsewhere}/blobs/{digest(data)}")

        def manifest(self, name: str) -> web.StreamResponse:
            if "Authorization" not in self.asked[-1].headers:
                return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="r"'})
            return super().manifest(name)

    async with stranger(store) as elsewhere, stranger(Redirecting(image)) as url:
        await puller.pull(url, credentials=KNOWN)
    assert [request.headers.get("Authorization") for request in store.asked] == [None]


async def test_a_registry_that_sends_us_on_and_on(puller: Puller) -> None:
    async def forever(request: web.BaseRequest) -> web.StreamResponse:
        raise web.HTTPFound(request.path)

    async with stranger(forever) as url:
        with pytest.raises(RegistryError, match="sends us on and on"):
            await puller.pull(url)


class BreakingOff(Served):
    """Sends half of what is missing, each time."""

    may_continue = True

    async def blob(self, request: web.BaseRequest, data: bytes) -> web.StreamResponse:
        asked = request.headers.get("Range", "bytes=0-")
        start = int(asked.removeprefix("bytes=").rstrip("-")) if self.may_continue else 0
        rest = data[start:]
        status = 206 if start else 200
        headers = {"Content-Length": str(len(rest))}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        answer = web.StreamResponse(status=status, headers=headers)
        await answer.prepare(request)
        await answer.write(rest[: max(len(rest) // 2, 100_000)])
        if len(rest) > 100_000 and request.transport:
            request.transport.close()
        return answer


async def test_a_blob_that_breaks_off_is_continued(puller: Puller) -> None:
    served = BreakingOff(Image([disk(os.urandom(MIB))]))
    async with stranger(served) as url:
        pulled = await puller.pull(url)
    assert len(content(pulled.disk())) == MIB
    starts = [each.headers.get("Range") for each in served.asked[1:]]
    assert len(starts) > 3
    assert all(starts[1:]), "only the first asked for all of it"


async def test_a_registry_that_cannot_continue_begins_again_and_we_give_up(puller: Puller) -> None:
    served = BreakingOff(Image([disk(os.urandom(MIB))]))
    served.may_continue = False
    async with stranger(served) as url:
        with pytest.raises(RegistryError, match="cannot be pulled now"):
            await puller.pull(url)
    assert 5 <= len(served.asked) - 1 <= 20


async def test_the_next_process_continues_what_the_last_one_left(puller: Puller) -> None:
    image = Image([disk(os.urandom(MIB))])
    leave(puller, image, image.layers[0][:300_000])
    served = BreakingOff(image)
    async with stranger(served) as url:
        await puller.pull(url)
    assert served.asked[1].headers["Range"] == "bytes=300000-"


def leave(puller: Puller, image: Image, data: bytes) -> None:
    folder = puller.folder / "layers"
    folder.mkdir()
    name = digest(image.layers[0]).removeprefix("sha256:")
    (folder / f"{name}.partial").write_bytes(data)


async def test_what_was_left_wrong_is_fetched_anew(puller: Puller) -> None:
    image = Image([disk(os.urandom(MIB))])
    leave(puller, image, b"wrong" * 1000)
    async with stranger(BreakingOff(image)) as url:
        assert len(content((await puller.pull(url)).disk())) == MIB


async def test_a_layer_that_was_changed_on_the_way(puller: Puller) -> None:
    class Changing(Served):
        async def blob(self, request: web.BaseRequest, data: bytes) -> web.StreamResponse:
            return web.Response(body=data.replace(b"good", b"evil"))

    async with stranger(Changing(Image([disk(b"good")]))) as url:
        with pytest.raises(ContainerImageError, match="changed on the way: its layer"):
            await puller.pull(url)
    assert puller.layers == [] or content(puller.folder / "layers" / puller.layers[0]) == b""


async def test_a_manifest_that_was_changed_on_the_way(puller: Puller) -> None:
    image = Image([disk()])
    other = Image([disk(b"evil")])
    async with stranger(Served(other)) as url:
        with pytest.raises(ContainerImageError, match="changed on the way: its manifest"):
            await puller.pull(url, f"quay.io/kubevirt/demo@{image.digest}")


async def test_a_manifest_behind_an_index_that_was_changed_on_the_way(puller: Puller) -> None:
    good, evil = Image([disk(b"good")]), Image([disk(b"evil")])
    index, _ = multi_platform([(good, this_machine().architecture)])

    class Changing(Served):
        def manifest(self, name: str) -> web.StreamResponse:
            if name == "latest":
                return web.Response(body=index, content_type=OCI_INDEX)
            return web.Response(body=evil.manifest, content_type=OCI_MANIFEST)

    async with stranger(Changing(evil)) as url:
        with pytest.raises(ContainerImageError, match="changed on the way: its manifest"):
            await puller.pull(url)


async def test_a_layer_longer_than_its_manifest_says(puller: Puller) -> None:
    class Endless(Served):
        async def blob(self, request: web.BaseRequest, data: bytes) -> web.StreamResponse:
            return web.Response(body=data + bytes(MIB))

    async with stranger(Endless(Image([disk()]))) as url:
        with pytest.raises(ContainerImageError, match="more than the 10240 bytes"):
            await puller.pull(url)


async def test_a_manifest_without_end(puller: Puller) -> None:
    async def endless(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=b" " * (5 * MIB))

    async with stranger(endless) as url:
        with pytest.raises(ContainerImageError, match="manifest has more than 4194304 bytes"):
            await puller.pull(url)


async def test_an_image_that_is_too_large_is_not_even_fetched(puller: Puller) -> None:
    served = Served(an_image())
    async with stranger(served) as url:
        with pytest.raises(ContainerImageError, match="are the most"):
            await puller.pull(url, limits=UnpackLimits(packed_bytes=MIB))
    assert len(served.asked) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_registry_in_trouble_is_asked_again_later(puller: Puller, status: int) -> None:
    async def troubled(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=status)

    async with stranger(troubled) as url:
        with pytest.raises(RegistryError, match="cannot be pulled now: the registry"):
            await puller.pull(url)


async def test_a_registry_that_sends_us_to_an_open_place_for_a_token(puller: Puller) -> None:
    from kubevirt.host.oci.authorization import authorize

    challenge = 'Bearer realm="http://example.invalid/token"'
    with pytest.raises(ContainerImageError, match="which is not encrypted"):
        await authorize(None, challenge, "https://quay.io", None, "demo")  # type: ignore[arg-type]  # never used


@pytest.mark.parametrize(
    "said", [b"", b"[]", b'{"token": ""}', json.dumps({"token": "a\nb"}).encode()]
)
async def test_a_token_that_is_none(puller: Puller, said: bytes) -> None:
    async def confused(request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/token":
            return web.Response(body=said)
        realm = f'Bearer realm="http://{request.host}/token"'
        return web.Response(status=401, headers={"WWW-Authenticate": realm})

    async with stranger(confused) as url:
        with pytest.raises(RegistryError, match="gives no token"):
            await puller.pull(url)


def test_a_password_is_not_printed() -> None:
    assert PASSWORD not in repr(KNOWN)
