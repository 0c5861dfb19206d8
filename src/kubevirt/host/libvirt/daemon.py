"""The daemon: one libvirtd (or virtqemud) of its own for each launcher, never root.

    daemon = Daemon(DaemonSettings(home="/var/run/libvirt"))
    daemon.prepare()
    start(*daemon.argv, env=daemon.environment)     # whose child it becomes is the caller's business
    await wait_for_socket(daemon.socket, clock=clock)

It runs in libvirt's session mode, which a daemon of a user other than root is in by itself. QEMU is
no child of it: when it is killed, guests run on, and the next daemon with the same home finds them.

What it does not need it does not have: of libvirt's drivers only QEMU's is loaded (a third of the
start-up time and 3 MB less), no cgroups, no mount namespaces, no security labels, no log daemon, no
listener but one unix socket. The sandbox around it is what confines QEMU.
"""

import os
import shutil
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.base.errors import ConfigError, ProgramNotFound
from kubevirt.base.search_path import SEARCH_PATH

SOCKET_LIMIT: Final = 107
"""Bytes of a unix socket's address."""

_DRIVERS: Final = (
    "/usr/lib/*/libvirt/connection-driver",  # Debian
    "/usr/lib64/libvirt/connection-driver",
    "/usr/lib/libvirt/connection-driver",
)
_LONGEST_SOCKET: Final = f"libvirt/qemu/channel/target/domain-999-{'x' * 20}/org.qemu.guest_agent.0"
"""The longest that libvirt makes for a guest; it cuts long names of guests itself."""

_QEMU_CONFIG: Final = """\
stdio_handler = "file"
security_driver = "none"
namespaces = []
cgroup_controllers = []
remember_owner = 0
max_core = 0
seccomp_sandbox = 1
"""
_IN_FEW_WORDS: Final = 'capability_filters = ["cpu-unavailable-features"]\n'
"""Makes libvirt read what QEMU made of the guest's processor in two answers, as it does with old ones, instead
of asking for four hundred properties one by one: 0.2 s of every start."""

_WORKERS_CONFIG: Final = """\
min_workers = 1
max_workers = 6
prio_workers = 2
max_client_requests = 6
max_clients = 8
max_queued_clients = 8
max_anonymous_clients = 8
keepalive_interval = -1
admin_min_workers = 1
admin_max_workers = 1
admin_max_clients = 1
log_level = 3
log_outputs = "3:stderr"
"""
"""One launcher is its only client. Priority workers do what needs no guest, so that a guest that
hangs can still be destroyed. Who is alive is asked by the client."""


class DaemonSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where a daemon lives."""

    home: str
    """Its own folder: sockets, state, logs. It must outlive the daemon as long as the guest runs,
    and have at most 24 characters, since the guest agent's socket lies deep in it."""
    capabilities_seed: str | None = None
    """A folder with what an earlier daemon of this machine learned about QEMU (`capabilities`),
    copied at the start: asking QEMU anew takes half a second. Copied, not shared: a launcher that
    was taken over must not lie to the others."""
    emulated: bool = False
    """Guests have no KVM. Their processors are then looked at more quickly; those of KVM may have Hyper-V's
    features, of which libvirt learns only when it asks for each."""
    program: str | None = None
    """The daemon's path; None finds virtqemud or libvirtd."""


class Daemon:
    """How to start the daemon, and where it puts things. Knows nothing of whether it runs."""

    def __init__(self, settings: DaemonSettings) -> None:
        self.settings = settings
        self.home = Path(settings.home)
        self.program = settings.program or _found_program()
        self._name = Path(self.program).name
        _check_length(self.home / _LONGEST_SOCKET, settings.home)

    @property
    def socket(self) -> Path:
        name = "libvirt-sock" if self._name == "libvirtd" else f"{self._name}-sock"
        return self._runtime / "libvirt" / name

    @property
    def pid_file(self) -> Path:
        return self._runtime / "daemon.pid"

    @property
    def argv(self) -> tuple[str, ...]:
        config = self._config / "libvirt" / f"{self._name}.conf"
        return (self.program, "--config", str(config), "--pid-file", str(self.pid_file))

    @property
    def environment(self) -> dict[str, str]:
        """All of it: the daemon gets nothing of ours, and hands what it has to QEMU."""
        return {
            "PATH": SEARCH_PATH,
            "LC_ALL": "C.UTF-8",
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self._runtime),
            "XDG_CONFIG_HOME": str(self._config),
            "XDG_CACHE_HOME": str(self._cache),
            "XDG_DATA_HOME": str(self.home / "data"),
            "LIBVIRT_DRIVER_DIR": str(self._drivers),
            # There is no bus in a pod, and none shall be launched.
            "DBUS_SESSION_BUS_ADDRESS": "disabled:",
            "DBUS_SYSTEM_BUS_ADDRESS": "disabled:",
            # One heap instead of one for each of its threads, which work one after the other.
            "MALLOC_ARENA_MAX": "1",
        }

    @property
    def capabilities(self) -> Path:
        """What it learned about QEMU: the seed for daemons to come."""
        return self._cache / "libvirt/qemu/cache/capabilities"

    def qemu_pid_file(self, domain: str) -> Path:
        """There as long as the guest's QEMU runs."""
        return self._runtime / "libvirt/qemu/run" / f"{domain}.pid"

    def qemu_log(self, domain: str) -> Path:
        """What QEMU itself says, its last words too."""
        return self._cache / "libvirt/qemu/log" / f"{domain}.log"

    def prepare(self) -> None:
        """Writes its folders and settings. Done again before each start, it changes nothing."""
        for folder in (self._runtime, self._config / "libvirt", self._drivers, self.capabilities):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self._config / "libvirt/qemu.conf").write_text(self._qemu_config())
        (self._config / f"libvirt/{self._name}.conf").write_text(self._daemon_config())
        driver = self._drivers / "libvirt_driver_qemu.so"
        if not driver.is_symlink():
            driver.symlink_to(_found_driver())
        if self.settings.capabilities_seed is not None:
            _copy_new(Path(self.settings.capabilities_seed), self.capabilities)

    def _qemu_config(self) -> str:
        return _QEMU_CONFIG + (_IN_FEW_WORDS if self.settings.emulated else "")

    def _daemon_config(self) -> str:
        # virtqemud has no such listeners and no such settings.
        network = "listen_tls = 0\nlisten_tcp = 0\n" if self._name == "libvirtd" else ""
        return network + _WORKERS_CONFIG

    @property
    def _runtime(self) -> Path:
        return self.home / "run"

    @property
    def _config(self) -> Path:
        return self.home  # no folder of its own: that would make the sockets' paths longer

    @property
    def _cache(self) -> Path:
        return self.home / "cache"

    @property
    def _drivers(self) -> Path:
        return self.home / "drivers"


def _found_program() -> str:
    for name in ("virtqemud", "libvirtd"):
        if found := shutil.which(name, path=SEARCH_PATH):
            return found
    raise ProgramNotFound("libvirtd", SEARCH_PATH, "libvirt-daemon")


def _found_driver() -> Path:
    for pattern in _DRIVERS:
        for found in Path("/").glob(f"{pattern.lstrip('/')}/libvirt_driver_qemu.so"):
            return found
    raise ConfigError(
        "libvirt is here without its QEMU driver; install it with: "
        "apt-get install libvirt-daemon-driver-qemu"
    )


def _check_length(longest: Path, home: str) -> None:
    too_many = len(os.fsencode(longest)) - SOCKET_LIMIT
    if too_many > 0:
        raise ConfigError(
            f"the folder {home} is {too_many} characters too long for the sockets of a guest in it;"
            f" give one of a shorter path"
        )


def _copy_new(source: Path, target: Path) -> None:
    for file in sorted(source.glob("*.xml")):
        if not (target / file.name).exists():
            draft = target / f".{file.name}.tmp"
            shutil.copyfile(file, draft)
            draft.rename(target / file.name)
