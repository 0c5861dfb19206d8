"""Writes the message classes of rpc/ from their .proto files; --check only says whether they fit."""

import sys
import tempfile
from pathlib import Path

from grpc_tools import protoc

RPC = Path(__file__).parents[1] / "src" / "kubevirt" / "rpc"
PROTOS = RPC / "protos"
MESSAGES = RPC / "messages"


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print(__doc__)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        fresh = written_to(Path(folder))
    if arguments:
        stale = [name for name, text in fresh.items() if text != _text(MESSAGES / name)]
        for name in stale:
            print(f"stubs: {MESSAGES.name}/{name} does not fit its .proto; run `make generate`")
        return 1 if stale else 0
    for name, text in fresh.items():
        (MESSAGES / name).write_text(text)
    return 0


def written_to(folder: Path) -> dict[str, str]:
    names = sorted(path.name for path in PROTOS.glob("*.proto"))
    options = [f"-I{PROTOS}", f"--python_out={folder}", f"--pyi_out={folder}"]
    if protoc.main(["protoc", *options, *names]):
        sys.exit("stubs: protoc failed, see above")
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
