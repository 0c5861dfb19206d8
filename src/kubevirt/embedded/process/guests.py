"""Where the project's own guests are, if somebody built them (`make guest-image`): a home knows them by their names."""

from collections.abc import Mapping
from pathlib import Path


def archives(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """The folder of the newest; the one above it while there is none yet, so that one that is built later is found."""
    folder = _cache(environ) / "guest" / "image"
    found = folder.iterdir() if folder.is_dir() else ()
    built = [each for each in found if each.is_dir() and not _is_draft(each)]
    newest = max(built, key=lambda each: each.stat().st_mtime, default=folder)
    return (newest,)


def _is_draft(folder: Path) -> bool:
    """One that is being built: its images are not whole yet, and its name is about to change."""
    return folder.name.startswith(".")


def _cache(environ: Mapping[str, str]) -> Path:
    """As guest/build.sh has it."""
    if chosen := environ.get("KUBEVIRT_CACHE"):
        return Path(chosen)
    if base := environ.get("XDG_CACHE_HOME"):
        return Path(base) / "kubevirt-py"
    return Path(environ.get("HOME") or "/root") / ".cache" / "kubevirt-py"
