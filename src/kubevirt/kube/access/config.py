"""Where the server is and how to be let in: everything a `Client` needs to know before it starts.

    config = default_config.find(os.environ)           # what kubectl would use, or the pod's own
    config = kubeconfig.load(["/etc/lab.conf"], os.environ, context="lab")
    config = incluster.load(os.environ)

A `Config` is a value; the files it names are read when they are needed, and again when they change.
Only a program's entry reads the environment: below it, configurations are handed in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kubevirt.base.errors import ConfigError
from kubevirt.kube.access import addresses
from kubevirt.kube.access.credentials import Credentials, HeldCredentials
from kubevirt.kube.access.material import Material


@dataclass(frozen=True, slots=True, kw_only=True)
class Impersonation:
    """Act as another user; the server must allow it."""

    user: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def flaw(self) -> str:
        """Why it cannot be sent in headers, as the end of a sentence; empty when it can."""
        words = [self.user, self.uid, *self.groups, *self.extra]
        words += [value for values in self.extra.values() for value in values]
        if not self.user:
            return "has no name"
        return "" if all(map(str.isprintable, words)) else "has control characters in it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    server: str
    """`https://host:port`, with a path if the API does not live at the root."""

    credentials: Credentials = field(default_factory=HeldCredentials)

    ca: Material | None = None
    """Who signs the server's certificate (PEM); None means whom the system trusts."""

    insecure_skip_tls_verify: bool = False
    """Talk to whoever answers. For a server on one's own machine, never across a network."""

    tls_server_name: str = ""
    """The name in the server's certificate, where it differs from the one in `server`."""

    proxy_url: str = field(default="", repr=False)  # may hold a password
    """An HTTP proxy on the way to the server."""

    disable_compression: bool = False
    impersonate: Impersonation | None = None

    namespace: str = "default"
    """For commands that name none. The client itself never assumes a namespace."""

    origin: str = "the given configuration"
    """Where all this was found, for messages: `context "lab" of /home/ann/.kube/config`."""

    def __post_init__(self) -> None:
        for what, flaw in (
            ("server", addresses.flaw_of_server(self.server)),
            ("proxy", self.proxy_url and addresses.flaw_of_proxy(self.proxy_url)),
            (
                "tls-server-name",
                self.tls_server_name and addresses.flaw_of_name(self.tls_server_name),
            ),
            ("impersonated user", self.impersonate and self.impersonate.flaw),
        ):
            if flaw:
                # What is wrong is named, not shown: it may hold a password.
                raise ConfigError(f"the {what} of {self.origin} {flaw}; correct it")
