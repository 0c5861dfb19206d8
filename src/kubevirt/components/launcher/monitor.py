"""The first process of a launcher: keeps the others alive, and says how the guest ended.

    monitor (pid 1)
    ├── libvirtd    back at once when it dies
    ├── manager     back at once when it dies
    └── QEMU        libvirt lets go of it, so it falls to pid 1: no other death ends it, and its end is ours

It is run as `python -I -S monitor.py` and imports next to nothing, because every guest has one: its own
memory is three megabytes. So settings come as plain arguments:

    monitor.py FOLDER GRACE_S [LIFELINE] -- LIBVIRTD ARGUMENT… -- MANAGER ARGUMENT…

What passes between the monitor and the manager lies in FOLDER: the manager writes QEMU's pid to `qemu-pid`;
the monitor writes how it ended to `qemu-exit`, pid and code, which a manager that was away reads; the manager writes
what that means in words to `ending`, and whether it is a failure to `crashed`, and ends. A manager that ends in peace
says that there is nothing left to do. One that names another pid, or takes the note away, says that the QEMU which
ended was none of the guest's: its start failed, and there is another.

Who is asked to end passes it on to the manager as SIGTERM, and leaves `asked-to-end` for a manager that was
away at that moment, or not yet able to hear.

A guest that runs is never ended because the others do not: they are started again for as long as it lives.

LIFELINE is the descriptor of a pipe. When nobody holds its other end any more, whoever started the launcher is
dead, and it ends: the kernel's own signal for that does not reach a process of another user.
"""

# ruff: noqa: PTH105, PTH110, PTH123  # pathlib alone would add half as much memory again

import fcntl
import os
import signal
import sys
import time

SETTLED_S = 5.0
"""A process that lived this long was all right; the next start is at once."""
DELAYS_S = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Before the next start of a process that dies early, by how often it did."""
GUEST_WAITS_S = 0.3
"""The longest of these pauses while a guest runs: who tends it is to be back within a second, however often it dies."""
TRIES = 20
"""Early deaths in a row, after which a launcher without a guest gives up."""
FAREWELL_S = 15.0
"""For the manager to tell the handler that the guest has ended."""
QEMU_END_S = 10.0
"""For QEMU to end by itself when the launcher ends."""
HANDLED = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGIO)
ASKS_TO_END = (signal.SIGTERM, signal.SIGINT)
USELESS = 64
"""The manager's exit code for what will not be better next time."""
LONGEST_WAIT_S = 3600.0
STRANGERS = 64
"""How many processes that fell to us are remembered: one may turn out to have been the guest."""
NOTE_LIMIT = 4096
"""Characters: what a kubelet takes for last words."""
TERMINATION_LOG = "/dev/termination-log"
NEVER = float("inf")


class Child:
    """A process that is to be there. Its output is ours, unless a descriptor is named for it."""

    def __init__(self, name: str, argv: list[str], output: int | None = None) -> None:
        self.name = name
        self.pid = 0
        self.due = 0.0
        self.early_deaths = 0
        self._argv = argv
        self._output = output
        self._began = 0.0

    def start(self, longest_pause_s: float) -> None:
        """One that cannot be started has died early."""
        self.due = NEVER
        self._began = time.monotonic()
        try:
            self.pid = os.posix_spawn(
                self._argv[0],
                self._argv,
                os.environ,
                file_actions=self._streams(),
                setpgroup=0,
                setsigmask=(),
                setsigdef=HANDLED,
            )
        except OSError as error:
            say(f"{self.name} cannot be started: {error.strerror} ({self._argv[0]})")
            self.ended(longest_pause_s)

    def _streams(self) -> list[tuple[int, int, int]]:
        if self._output is None:
            return []
        return [(os.POSIX_SPAWN_DUP2, self._output, stream) for stream in (1, 2)]

    def ended(self, longest_pause_s: float) -> None:
        """Notes the death and when to start it again."""
        now = time.monotonic()
        self.pid = 0
        self.early_deaths = 0 if now - self._began >= SETTLED_S else self.early_deaths + 1
        pause_s = DELAYS_S[min(self.early_deaths, len(DELAYS_S) - 1)]
        self.due = now + min(pause_s, longest_pause_s)


class Lifeline:
    """The reading end of a pipe on which nothing is ever written; `fd` is negative if there is none."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        if fd >= 0:
            os.set_inheritable(fd, False)
            fcntl.fcntl(fd, fcntl.F_SETOWN, os.getpid())  # SIGIO wakes us
            flags = fcntl.fcntl(fd, fcntl.F_GETFL)
            fcntl.fcntl(fd, fcntl.F_SETFL, flags | os.O_ASYNC | os.O_NONBLOCK)

    @property
    def is_cut(self) -> bool:
        try:
            return self._fd >= 0 and not os.read(self._fd, 1)
        except BlockingIOError:
            return False


class Monitor:
    def __init__(
        self, folder: str, grace_s: float, lifeline: Lifeline, libvirtd: Child, manager: Child
    ) -> None:
        self._folder = folder
        self._grace_s = grace_s
        self._lifeline = lifeline
        self._libvirtd = libvirtd
        self._manager = manager
        self._strangers: dict[str, int] = {}
        self._deadline = NEVER
        self._farewell = NEVER
        self._is_asked_to_end = False
        self._guest_code: int | None = None
        self._ended_guest = ""
        self._code_without_guest = 1
        self._ending = ""

    def run(self) -> int:
        """Until there is nothing left to do. Returns the exit code of the launcher."""
        while not self._ending:
            if self._lifeline.is_cut:
                self._ending = "whoever started the launcher is gone"
                break
            self._start_what_is_due()
            received = signal.sigtimedwait(HANDLED, self._patience())
            if received is not None and received.si_signo in ASKS_TO_END:
                self._pass_on_the_end()
            self._take_note(self._reap())
            if time.monotonic() >= self._limit and not self._ending:
                self._give_up()
        code = self._guest_code if self._guest_code is not None else self._code_without_guest
        self._end_everything()
        self._tell(self._read("ending") or self._ending)
        return 0 if code == 0 and not self._read("crashed") else 1

    def _start_what_is_due(self) -> None:
        for child in (self._libvirtd, self._manager):
            if child.due <= time.monotonic():
                child.start(self._longest_pause_s)
                if not child.pid:
                    self._give_up_on(child, "could not be started")

    @property
    def _limit(self) -> float:
        """When it ends by itself, if nobody does anything."""
        return self._deadline if self._guest_code is None else self._farewell

    def _patience(self) -> float:
        nearest = min(self._libvirtd.due, self._manager.due, self._limit)
        return min(max(nearest - time.monotonic(), 0.0), LONGEST_WAIT_S)

    def _pass_on_the_end(self) -> None:
        """A pod is being deleted. The manager sees to a graceful end of the guest."""
        if not self._is_asked_to_end:
            self._is_asked_to_end = True
            self._write("asked-to-end", str(time.monotonic()))
            self._deadline = min(self._deadline, time.monotonic() + self._grace_s)
        if self._manager.pid:
            os.kill(self._manager.pid, signal.SIGTERM)

    def _give_up(self) -> None:
        if self._guest_code is None:
            self._ending = f"the guest did not end within {self._grace_s:g} s and was ended"
        else:
            self._ending = f"QEMU {how(self._guest_code)}, and the manager did not say more"

    def _give_up_on(self, child: Child, how_it_went: str) -> None:
        if child.early_deaths >= TRIES and not self._guest_runs():
            self._ending = f"{child.name} {how_it_went}, {TRIES} times in a row"

    # Deaths

    def _reap(self) -> dict[int, int]:
        """Exit codes by pid of those who have died."""
        dead: dict[int, int] = {}
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return dead
            if not pid:
                return dead
            dead[pid] = os.waitstatus_to_exitcode(status)

    def _take_note(self, dead: dict[int, int]) -> None:
        """The manager last: what its end means depends on whether the guest is still there."""
        libvirtd, manager = dead.pop(self._libvirtd.pid, None), dead.pop(self._manager.pid, None)
        if libvirtd is not None:
            self._libvirtd.ended(self._longest_pause_s)
            say(f"libvirtd {how(libvirtd)}")
            self._give_up_on(self._libvirtd, how(libvirtd))
        self._look_for_the_guest(dead)
        if manager is not None:
            self._manager.ended(self._longest_pause_s)
            self._judge_manager(manager)

    def _look_for_the_guest(self, dead: dict[int, int]) -> None:
        """Most strangers are a QEMU that libvirt asked what it can do. The guest's own may end before
        the manager has written down which one it is, and may follow one that ended before it ever ran.
        """
        for pid, code in dead.items():
            self._strangers[str(pid)] = code
        while len(self._strangers) > STRANGERS:
            del self._strangers[next(iter(self._strangers))]
        named = self._read("qemu-pid")
        if named == self._ended_guest:
            return
        self._guest_code = self._strangers.get(named)
        self._ended_guest = "" if self._guest_code is None else named
        if self._guest_code is not None:
            self._write("qemu-exit", f"{named} {self._guest_code}")
            self._farewell = time.monotonic() + FAREWELL_S

    def _judge_manager(self, code: int) -> None:
        if code == 0 and not self._guest_runs():
            self._ending = "there is no guest any more"
            self._code_without_guest = 0
        elif code == USELESS:
            self._ending = "the launcher cannot work as it was asked to"
        else:
            say(f"the manager {how(code)}")
            self._give_up_on(self._manager, how(code))

    @property
    def _longest_pause_s(self) -> float:
        return GUEST_WAITS_S if self._guest_runs() else NEVER

    def _guest_runs(self) -> bool:
        if self._guest_code is not None:
            return False
        pid = self._read("qemu-pid")
        return bool(pid) and os.path.exists(f"/proc/{pid}")

    def _end_everything(self) -> None:
        """We are pid 1, so these are all the processes of our pod, and only they."""
        for child in (self._libvirtd, self._manager):
            if child.pid:
                os.kill(child.pid, signal.SIGKILL)  # they have nothing to save
        for number, patience_s in ((signal.SIGTERM, QEMU_END_S), (signal.SIGKILL, 1.0)):
            try:
                os.kill(-1, number)
            except ProcessLookupError:
                return
            deadline = time.monotonic() + patience_s
            while (left_s := deadline - time.monotonic()) > 0:
                self._look_for_the_guest(self._reap())
                if not has_children():
                    return
                signal.sigtimedwait((signal.SIGCHLD,), left_s)

    def _tell(self, ending: str) -> None:
        say(ending)
        if not os.path.exists(TERMINATION_LOG):  # where a kubelet looks for last words
            return
        try:
            with open(TERMINATION_LOG, "w", encoding="utf-8") as file:
                file.write(ending)
        except OSError as error:
            say(f"{TERMINATION_LOG} cannot be written: {error.strerror}")

    # Notes

    def _read(self, name: str) -> str:
        try:
            with open(f"{self._folder}/{name}", encoding="utf-8", errors="replace") as file:
                return file.read(NOTE_LIMIT).strip()
        except FileNotFoundError:
            return ""

    def _write(self, name: str, text: str) -> None:
        """Whole or not at all: the manager may read it at any moment."""
        path = f"{self._folder}/{name}"
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            file.write(f"{text}\n")
        os.replace(f"{path}.new", path)


def has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def how(code: int) -> str:
    """The end of a process in words."""
    if code >= 0:
        return f"ended with code {code}"
    known = -code in signal.valid_signals() and -code < signal.SIGRTMIN
    name = signal.Signals(-code).name if known else f"signal {-code}"
    why = ", by somebody or for lack of memory" if -code == signal.SIGKILL else ""
    return f"was ended by {name}{why}"


def say(text: str) -> None:
    """A line of the log; everybody else's are in the same form."""
    printable = "".join(each if each.isprintable() else " " for each in text)
    safe = printable.replace("\\", "\\\\").replace('"', '\\"')
    line = f'{{"component":"virt-launcher-monitor","level":"info","msg":"{safe}"}}'
    sys.stderr.write(line + "\n")


def main(argv: list[str]) -> int:
    if os.getpid() != 1:
        say(
            "virt-launcher must be the first process of a container: it ends all others when it ends"
        )
        return USELESS
    start = argv.index("--")
    folder, grace_s, lifeline = (*argv[:start], "-1")[:3]
    commands = argv[start + 1 :]
    cut = commands.index("--")
    signal.pthread_sigmask(signal.SIG_BLOCK, HANDLED)
    libvirtd = Child("libvirtd", commands[:cut])
    manager = Child("the manager", commands[cut + 1 :])
    line = Lifeline(int(lifeline))
    return Monitor(folder, float(grace_s), line, libvirtd, manager).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
