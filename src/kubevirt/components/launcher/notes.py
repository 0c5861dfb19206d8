"""Notes: what a manager must still know after it was killed, one small file each.

    started        the guest runs, or has run: it is never started a second time
    vmi.json       the instance as it was last asked for
    qemu-pid       for the monitor, which reaps QEMU
    qemu-exit      by the monitor: which QEMU ended, and how
    asked-to-end   by the monitor: since when the launcher is ending, in seconds of the monotonic clock
    resets         how often the guest's machine was reset: at least once for each reboot
    thaw-at        when a frozen guest is to be thawed, likewise
    ending         in words, why the guest ended: the launcher's last ones
    crashed        for the monitor: it did not end in peace, though QEMU may have

The monotonic clock is the machine's, so its readings mean the same to the next manager.
"""

from pathlib import Path
from typing import Final

from kubevirt.base.files import Root

TEXT_LIMIT: Final = 1 << 12
INSTANCE_LIMIT: Final = 16 << 20


class Notes:
    """The folder. It is the launcher's own; a write is whole or not at all."""

    def __init__(self, folder: str) -> None:
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        self._root = Root.open(folder)

    def close(self) -> None:
        self._root.close()

    # Whether the guest may have run.

    @property
    def has_started(self) -> bool:
        return self._root.exists("started")

    def guest_runs(self) -> None:
        self._write("started", "")

    # What it is.

    @property
    def instance(self) -> bytes | None:
        try:
            return self._root.read("vmi.json", limit=INSTANCE_LIMIT)
        except FileNotFoundError:
            return None

    def remember_instance(self, vmi: bytes) -> None:
        self._root.write("vmi.json", vmi, durable=False)

    # Its process.

    @property
    def qemu_pid(self) -> int | None:
        return _whole(self._read("qemu-pid"))

    def qemu_runs_as(self, pid: int) -> None:
        self._write("qemu-pid", str(pid))

    @property
    def qemu_exit(self) -> int | None:
        """Negative for a signal; None while it runs, or if nobody saw it end. Of an earlier one, whose start
        failed, it says nothing.
        """
        pid, _, code = (self._read("qemu-exit") or "").partition(" ")
        return _whole(code) if _whole(pid) == self.qemu_pid else None

    def forget_qemu(self) -> None:
        """Of a start that failed: the next one is the first again."""
        for name in ("qemu-pid", "qemu-exit"):
            self._root.unlink(name, missing_ok=True)

    @property
    def resets(self) -> int:
        return _whole(self._read("resets")) or 0

    def was_reset(self) -> None:
        self._write("resets", str(self.resets + 1))

    # Its end.

    @property
    def is_asked_to_end(self) -> bool:
        return self._root.exists("asked-to-end")

    @property
    def asked_to_end_at(self) -> float | None:
        return _number(self._read("asked-to-end"))

    def asked_to_end(self, at: float) -> None:
        self._write("asked-to-end", str(at))

    @property
    def thaw_at(self) -> float | None:
        return _number(self._read("thaw-at"))

    def remember_thaw(self, at: float | None) -> None:
        if at is None:
            self._root.unlink("thaw-at", missing_ok=True)
        else:
            self._write("thaw-at", str(at))

    @property
    def ending(self) -> str:
        return self._read("ending") or ""

    def tell_ending(self, sentence: str, *, in_peace: bool = True) -> None:
        if not in_peace:
            self._write("crashed", "yes")
        self._write("ending", sentence)

    def _read(self, name: str) -> str | None:
        try:
            return self._root.read(name, limit=TEXT_LIMIT).decode(errors="replace").strip()
        except FileNotFoundError:
            return None

    def _write(self, name: str, text: str) -> None:
        # Not through a power loss: the pod and its guest do not outlive one either.
        self._root.write(name, f"{text}\n".encode()[:TEXT_LIMIT], durable=False)


def _whole(text: str | None) -> int | None:
    try:
        return int(text) if text else None
    except ValueError:
        return None


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


def is_alive(pid: int, name: str | tuple[str, ...] = "") -> bool:
    """Whether there is such a process, of a program whose name begins like that, or like one of those.

    One that has ended and is not reaped yet counts as gone.
    """
    try:
        status = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return False
    program, _, rest = status.partition("(")[2].rpartition(")")
    return program.startswith(name) and rest.split()[0] not in "ZX"
