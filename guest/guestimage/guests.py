"""The guests that are built: the same system under the names and habits that known scripts expect.

A script written for the CirrOS image looks for its prompt and its password; one for the Alpine image
logs in as root; one for Fedora sets the password of `fedora`. They differ in these few files only.
"""

from dataclasses import dataclass

from guestimage.tree import Tree


@dataclass(frozen=True, kw_only=True)
class Guest:
    name: str
    """Of the image's files."""
    agent: bool
    """Whether it runs the guest agent."""
    hostname: str
    user: str
    """Whom cloud-config means when it names nobody."""
    password_hash: str
    """`_LOCKED` when no password works, empty when none is asked."""
    prompt: str
    issue: str
    """What stands above the login prompt."""


_LOCKED = "$6$locked$!"
"""What no password hashes to; busybox's login stumbles over the usual `!`."""
_GOCUBSGO = (
    "$6$kubevirtpyguest$NUYJJCxGAQytoBUnCxpWiidkidt8CabeDMvSOzeg7rLgcYBO2WlVwJirpxrc2fCdCclZj"
    ".tI4PaC53OdLARVm."
)
"""`gocubsgo`, which the login prompt itself tells everyone."""

CIRROS = Guest(
    name="cirros",
    agent=True,
    hostname="cirros",
    user="cirros",
    password_hash=_GOCUBSGO,
    prompt=r"\$ ",
    issue="login as 'cirros' user. default password: 'gocubsgo'. use 'sudo' for root.",
)
CIRROS_WITHOUT_AGENT = Guest(
    name="cirros-without-agent",
    agent=False,
    hostname=CIRROS.hostname,
    user=CIRROS.user,
    password_hash=CIRROS.password_hash,
    prompt=CIRROS.prompt,
    issue=CIRROS.issue,
)
ALPINE = Guest(
    name="alpine",
    agent=False,
    hostname="localhost",
    user="root",
    password_hash="",
    prompt=r"\h:\w\$ ",
    issue="log in as 'root', no password is asked.",
)
FEDORA = Guest(
    name="fedora",
    agent=True,
    hostname="localhost",
    user="fedora",
    password_hash=_LOCKED,
    prompt=r"[\u@\h \W]\$ ",
    issue="log in as 'fedora' with the password or key of your cloud-config.",
)
ALL = (CIRROS, CIRROS_WITHOUT_AGENT, ALPINE, FEDORA)


def add_identity(guest: Guest, tree: Tree) -> None:
    """The files in which guests differ."""
    ordinary = guest.user if guest.user != "root" else ""
    root_hash = _LOCKED if ordinary else guest.password_hash
    passwd = ["root:x:0:0:root:/root:/bin/sh", "nobody:x:65534:65534:nobody:/:/bin/false"]
    group = ["root:x:0:", "tty:x:5:", f"sudo:x:27:{ordinary}", "nogroup:x:65534:"]
    shadow = [f"root:{root_hash}:20000:0:99999:7:::", f"nobody:{_LOCKED}:20000:0:99999:7:::"]
    if ordinary:
        passwd.append(f"{ordinary}:x:1000:1000:{ordinary}:/home/{ordinary}:/bin/sh")
        group.append(f"{ordinary}:x:1000:")
        shadow.append(f"{ordinary}:{guest.password_hash}:20000:0:99999:7:::")
        tree.add_folder(f"home/{ordinary}", owner=1000, group=1000)
    tree.add_file("etc/passwd", _lines(passwd))
    tree.add_file("etc/group", _lines(group))
    tree.add_file("etc/shadow", _lines(shadow), mode=0o600)
    tree.add_file("etc/hostname", _lines([guest.hostname]))
    tree.add_file("etc/issue", _lines(["", guest.issue]))
    tree.add_file("etc/profile.d/prompt.sh", _lines([f"export PS1='{guest.prompt}'"]))
    tree.add_file("etc/guest/default-user", _lines([guest.user]))


def _lines(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
