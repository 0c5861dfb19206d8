"""Seeds for tests: small ISO files as cloud-init's data sources want them."""

import io
import subprocess
from collections.abc import Mapping
from pathlib import Path

from pycdlib import PyCdlib

Content = str | bytes


def nocloud(
    folder: Path,
    *,
    user_data: Content,
    meta_data: Content = "instance-id: one\n",
    network: Content | None = None,
) -> Path:
    files = {"user-data": user_data, "meta-data": meta_data}
    if network is not None:
        files["network-config"] = network
    return _iso(folder, "cidata", files)


def config_drive(
    folder: Path, *, user_data: Content, meta_data: Content, network: Content | None = None
) -> Path:
    files = {
        "openstack/latest/user_data": user_data,
        "openstack/latest/meta_data.json": meta_data,
    }
    if network is not None:
        files["openstack/latest/network_data.json"] = network
    return _iso(folder, "config-2", files)


def fat(folder: Path, *, user_data: str) -> Path:
    """NoCloud's files on the other file system that they may be on."""
    target = folder / "seed.fat"
    subprocess.run(["mkfs.fat", "-n", "CIDATA", "-C", target, "1440"], check=True, timeout=60)
    for name, text in (("user-data", user_data), ("meta-data", "instance-id: one\n")):
        (folder / name).write_text(text)
        subprocess.run(["mcopy", "-i", target, folder / name, "::"], check=True, timeout=60)
    return target


def _iso(folder: Path, label: str, files: Mapping[str, Content]) -> Path:
    image = PyCdlib()
    image.new(interchange_level=3, joliet=3, rock_ridge="1.09", vol_ident=label)
    folders: dict[str, str] = {}
    for number, (name, content) in enumerate(files.items()):
        *above, last = name.split("/")
        place = _folder(image, above, folders)
        raw = content if isinstance(content, bytes) else content.encode()
        image.add_fp(
            *(io.BytesIO(raw), len(raw), f"{place}/F{number}.;1"),
            rr_name=last,
            joliet_path=f"/{name}",
        )
    target = folder / f"{label}.iso"
    image.write(str(target))
    image.close()
    return target


def _folder(image: PyCdlib, above: list[str], made: dict[str, str]) -> str:
    """The folder of these names, made if need be; its short name stands for it on plain ISO 9660."""
    place = ""
    for depth in range(1, len(above) + 1):
        path = "/" + "/".join(above[:depth])
        if path not in made:
            made[path] = f"{place}/D{len(made)}"
            image.add_directory(made[path], rr_name=above[depth - 1], joliet_path=path)
        place = made[path]
    return place
