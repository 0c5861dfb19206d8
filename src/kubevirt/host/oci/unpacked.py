"""The files of an image on this machine, and how to find the one that is wanted."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from kubevirt.base.errors import UnsafePath
from kubevirt.base.files import Root
from kubevirt.host.oci.errors import ContainerImageError, shown

DISK_FOLDER: Final = "disk"


@dataclass(frozen=True, slots=True)
class UnpackedImage:
    """Plain files in plain folders, shared by all who use the image: never write to them."""

    name: str
    digest: str
    folder: Path

    def disk(self, path: str | None = None) -> Path:
        """The container disk: the file at `path`, or the only one in /disk."""
        if path:
            return self.file(path)
        with Root.open(self.folder) as root:
            try:
                names = root.listdir(DISK_FOLDER)
            except (FileNotFoundError, NotADirectoryError):
                raise ContainerImageError(
                    f"image {self.name} is no container disk: it has no folder /{DISK_FOLDER}; "
                    f"set the path of the disk"
                ) from None
        if len(names) != 1:
            raise ContainerImageError(
                f"image {self.name} is no container disk: /{DISK_FOLDER} holds {len(names)} files "
                f"instead of one; set the path of the disk"
            )
        return self.file(f"{DISK_FOLDER}/{names[0]}")

    def file(self, path: str) -> Path:
        """A plain file by its path in the image: a disk, a kernel, an initrd."""
        inside = path.lstrip("/")
        try:
            with Root.open(self.folder) as root, root.open_file(inside):
                return self.folder / PurePosixPath(inside)
        except (FileNotFoundError, NotADirectoryError):
            raise ContainerImageError(
                f"image {self.name} has no file {shown(path)}; links in an image are not followed"
            ) from None
        except UnsafePath:
            raise ContainerImageError(
                f"image {self.name}: {shown(path)} is no plain file inside the image"
            ) from None
