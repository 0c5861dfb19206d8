"""What plugins and files of the machine say of devices, as a sandbox needs it."""

from pathlib import Path

import pytest

from kubevirt.base.files import Root
from kubevirt.embedded.node.devices import cdi
from kubevirt.embedded.node.devices.fitting import MOST_PATHS, BadAnswer, fitted
from kubevirt.embedded.node.devices.ledger import FILE, Given, Ledger
from kubevirt.embedded.runtime.container import Mount
from kubevirt.rpc.devices import Answer, Folder, Node

ROOT = Path("/node")


def test_answers_of_several_plugins_become_one() -> None:
    found = fitted(
        [
            Answer(environment={"A": "1"}, nodes=[Node("/dev/x", "/dev/null")]),
            Answer(
                environment={"A": "2", "B": "2"},
                nodes=[Node("/dev/x", "/dev/zero")],
                folders=[Folder("/a", "/run/kubevirt/a", is_read_only=True)],
            ),
        ],
        ROOT,
    )

    assert found.environment == {"A": "1", "B": "2"}
    assert found.mounts == [
        Mount(source="/node/var/run/kubevirt/a", target="/a", is_read_only=True),
        Mount(source="/dev/null", target="/dev/x", is_device=True),
    ]


@pytest.mark.parametrize("path", ["", "dev/x", "/dev/../etc", "/dev/\0"])
def test_a_path_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(BadAnswer):
        fitted([Answer(nodes=[Node(path, "/dev/null")])], ROOT)
    with pytest.raises(BadAnswer):
        fitted([Answer(folders=[Folder("/x", path)])], ROOT)


def test_too_many_paths_are_refused() -> None:
    nodes = [Node(f"/dev/{number}", "/dev/null") for number in range(MOST_PATHS + 1)]
    with pytest.raises(BadAnswer, match="more than"):
        fitted([Answer(nodes=nodes)], ROOT)


DESCRIPTION = """
cdiVersion: "0.6.0"
kind: vendor.example/gadget
containerEdits:
  env: [COMMON=1]
devices:
- name: one
  containerEdits:
    env: ["NAME=one=1"]
    deviceNodes:
    - {path: /dev/one, hostPath: /dev/null, permissions: rw}
    - {path: /dev/zero}
    mounts:
    - {hostPath: /usr/share, containerPath: /share, options: [ro, nosuid]}
- name: hooked
  containerEdits:
    hooks: [{hookName: createContainer, path: /bin/true}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "gadget.yaml").write_text(DESCRIPTION)
    (tmp_path / "readme.txt").write_text("nonsense")
    return tmp_path


def test_a_device_is_described_by_a_file(folder: Path) -> None:
    found = cdi.described(["vendor.example/gadget=one"], [folder, folder / "none"])

    assert found == Answer(
        environment={"COMMON": "1", "NAME": "one=1"},
        folders=[Folder("/share", "/usr/share", is_read_only=True)],
        nodes=[Node("/dev/one", "/dev/null", "rw"), Node("/dev/zero", "/dev/zero")],
    )


def test_a_later_folder_goes_before(folder: Path, tmp_path: Path) -> None:
    later = tmp_path / "later"
    later.mkdir()
    (later / "a.json").write_text('{"kind":"vendor.example/gadget","devices":[{"name":"one"}]}')

    found = cdi.described(["vendor.example/gadget=one"], [folder, later])
    assert (list(found.nodes), found.environment) == ([], {})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("vendor.example/gadget=two", "unresolvable CDI devices vendor.example/gadget=two"),
        ("vendor.example/other=one", "unresolvable"),
        ("nonsense", "unresolvable"),
        ("vendor.example/gadget=hooked", "need hooks, which this node does not do"),
    ],
)
def test_a_device_that_cannot_be_had_is_told(folder: Path, name: str, words: str) -> None:
    with pytest.raises(cdi.NotDescribed, match=words):
        cdi.described([name], [folder])


def test_a_file_that_describes_nothing_is_named(folder: Path) -> None:
    (folder / "bad.json").write_text("{}")
    with pytest.raises(cdi.NotDescribed, match=r"bad\.json"):
        cdi.described(["vendor.example/gadget=one"], [folder])


def test_no_file_is_read_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{}")
    assert cdi.described([], [tmp_path]) == Answer()


def test_who_has_what_is_remembered(tmp_path: Path) -> None:
    given = Given(("a", "b"), Answer(nodes=[Node("/dev/x", "/dev/null", "rw")]))
    with Root.open(tmp_path) as root:
        ledger = Ledger(root)
        ledger.note_resource("example.com/widget")
        ledger.give("one", "main", "example.com/widget", given)

        again = Ledger(root)
        assert again.of("one", "main", "example.com/widget") == given
        assert list(again.held("example.com/widget")) == [("one", "main", ("a", "b"))]
        assert again.resources == {"example.com/widget"}
        again.free("one")
        again.forget_resource("example.com/widget")

        last = Ledger(root)
        assert last.of("one", "main", "example.com/widget") is None
        assert last.resources == frozenset()


def test_nothing_is_written_for_a_pod_without_devices(tmp_path: Path) -> None:
    with Root.open(tmp_path) as root:
        Ledger(root).free("one")
    assert not (tmp_path / FILE).exists()


def test_a_ledger_that_was_spoilt_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"pods":[]}')
    with Root.open(tmp_path) as root:
        assert Ledger(root).resources == frozenset()
