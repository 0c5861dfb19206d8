"""Files of ours that containers see, whose users are not root."""

from pathlib import Path


def write(path: Path, text: str, mode: int = 0o644) -> None:
    """At once, and only if it is not there already: containers that run have it mounted."""
    make(path.parent)
    if path.is_file() and path.read_text() == text:
        return
    draft = path.with_name(f".{path.name}")
    draft.write_text(text)
    draft.chmod(mode)
    draft.rename(path)


def make(folder: Path) -> None:
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
