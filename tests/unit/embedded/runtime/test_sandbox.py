"""The words of a sandbox."""

from itertools import pairwise

from kubevirt.embedded.runtime import capabilities, sandbox
from kubevirt.embedded.runtime.container import Container, Mount, Rights

ALLOWED = ("/usr", "/bin", "/sbin", "/lib", "/etc/", "/proc", "/dev")


def test_the_built_in_image_shows_a_list_and_nothing_else() -> None:
    options = list(sandbox.words(Container(command=["true"])).options)

    shown = [
        source
        for option, source in pairwise(options)
        if "bind" in option and not source.endswith(("runtime/etc/passwd", "runtime/etc/group"))
    ]
    assert all(each.startswith(ALLOWED) for each in shown)
    assert not {"/etc", "/etc/passwd", "/etc/shadow", "/etc/ssl", "/run", "/"} & set(shown)


def test_nothing_but_the_command_is_for_everybody_to_read() -> None:
    container = Container(
        command=["echo", "hello"],
        environment={"PASSWORD": "secret"},
        hostname="secret",
        mounts=[Mount(source="/secret", target="/data")],
    )

    words = sandbox.words(container)

    assert not any("secret" in word for word in words.command)
    assert "secret" in words.options


def test_no_mount_is_put_in_its_place_from_outside() -> None:
    """Whoever does that sees the machine's files, and links may lead there."""
    mounts = [
        Mount(source="/a", target="/one/deep"),
        Mount(source="/b", target="/two", is_read_only=True),
        Mount(source="/dev/kvm", target="/dev/kvm", is_device=True),
    ]

    words = sandbox.words(Container(command=["true"], mounts=mounts, is_root_read_only=True))

    options = " ".join(words.options)
    assert "--bind /a /dev/.volumes/0 --ro-bind /b /dev/.volumes/1" in options
    assert "--dev-bind /dev/kvm /dev/.volumes/2" in options
    assert not {"/one", "/one/deep", "/two"} & set(words.options)
    assert "furnish 1 /one/deep /two /dev/kvm -- 0 0" in " ".join(words.command)


def test_rights_are_told_by_numbers() -> None:
    rights = Rights(user=1, group=2, groups=(3, 4), capabilities=("CHOWN", "KILL"))

    assert sandbox.last_step(rights, "/work") == ("1", "2", "3,4", "21", "/work", "--")
    assert capabilities.mask(("CHOWN", "KILL")) == 0x21
