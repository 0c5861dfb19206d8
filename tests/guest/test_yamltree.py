"""yamltree, which stands between foreign YAML and shell scripts: exact, and never fooled."""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from guestimage import programs


@pytest.fixture(scope="session")
def yamltree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    programs.compile_one(programs.FOLDER / "yamltree.c", folder)
    return folder / "yamltree"


def unpack(program: Path, document: str | bytes, folder: Path) -> subprocess.CompletedProcess[str]:
    source = folder / "document"
    source.write_bytes(document if isinstance(document, bytes) else document.encode())
    return subprocess.run(
        [program, source, folder / "tree"], capture_output=True, text=True, timeout=60, check=False
    )


def read(path: Path) -> Any:
    if path.is_file():
        return path.read_bytes().decode()
    names = sorted(child.name for child in path.iterdir())
    if names and all(name.isdigit() and len(name) == 4 for name in names):
        return [read(path / name) for name in names]
    return {name: read(path / name) for name in names}


keys = st.from_regex(r"\A[a-zA-Z_][a-zA-Z0-9 _:#-]{0,20}\Z").filter(lambda key: key == key.strip())
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"))
values = st.recursive(
    texts,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=4)
        | st.dictionaries(keys, inner, min_size=1, max_size=4)
    ),
    max_leaves=15,
)


@given(document=st.dictionaries(keys, values, min_size=1, max_size=5), flow=st.booleans())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_yaml_can_say_arrives_as_files(
    yamltree: Path, document: dict[str, Any], *, flow: bool
) -> None:
    text = yaml.safe_dump(document, default_flow_style=flow, allow_unicode=True)
    with tempfile.TemporaryDirectory() as folder:
        done = unpack(yamltree, text, Path(folder))
        assert done.returncode == 0, done.stderr
        assert read(Path(folder, "tree")) == document


def test_json_is_yaml_too(yamltree: Path, tmp_path: Path) -> None:
    assert unpack(yamltree, '{"a": {"b": ["c", 1, true]}, "n": null}', tmp_path).returncode == 0
    assert read(tmp_path / "tree") == {"a": {"b": ["c", "1", "true"]}}


def test_blocks_anchors_and_binary_mean_what_they_mean(yamltree: Path, tmp_path: Path) -> None:
    text = (
        "kept: |\n  a\n  b\nstripped: |-\n  a\nfolded: >\n  a\n  b\n"
        "one: &x [1, 2]\ntwo: *x\nraw: !!binary aGVsbG8=\nempty: ''\nnothing:\ntilde: ~\n"
    )
    assert unpack(yamltree, text, tmp_path).returncode == 0
    assert read(tmp_path / "tree") == {
        "kept": "a\nb\n",
        "stripped": "a",
        "folded": "a b\n",
        "one": ["1", "2"],
        "two": ["1", "2"],
        "raw": "hello",
        "empty": "",
    }


def test_the_last_of_two_equal_keys_wins(yamltree: Path, tmp_path: Path) -> None:
    assert unpack(yamltree, "a: {b: 1}\na: 2\n", tmp_path).returncode == 0
    assert read(tmp_path / "tree") == {"a": "2"}


@pytest.mark.parametrize("key", ["../escaped", "/etc/passwd", "..", ".", "a/b", "''", "[1, 2]"])
def test_a_key_that_is_no_file_name_is_left_out(yamltree: Path, tmp_path: Path, key: str) -> None:
    done = unpack(yamltree, f"? {key}\n: 1\ngood: 2\n", tmp_path)
    assert done.returncode == 0
    assert "left out" in done.stderr
    assert read(tmp_path / "tree") == {"good": "2"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["document", "tree"]


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "document",
    [
        BOMB,
        "a: " + "[" * 60 + "]" * 60,
        "a: &a [*a]\n",
        "a: [1\nb: }",
        "",
        "- a\n- b\n",
        "words",
        b"\xff",
    ],
    ids=["bomb", "deep", "endless", "broken", "empty", "list", "scalar", "bytes"],
)
def test_a_hostile_or_broken_document_ends_with_a_reason(
    yamltree: Path, tmp_path: Path, document: str | bytes
) -> None:
    done = unpack(yamltree, document, tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("yamltree: ")
