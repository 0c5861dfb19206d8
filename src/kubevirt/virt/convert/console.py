"""The serial port, its log, and the console on it."""

from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.domain.serial import Console, Serial, SerialLog, SerialSource, SerialTarget


def serials(guest: Guest) -> tuple[Serial, ...]:
    if not guest.has_serial_console:
        return ()
    layout, uid = guest.facts.layout, guest.uid
    log = SerialLog(file=layout.serial_log(uid), append=True) if _is_logged(guest) else None
    return (
        Serial(
            type="unix",
            source=SerialSource(mode="bind", path=layout.serial_socket(uid)),
            log=log,
            target=SerialTarget(port=0),
        ),
    )


def consoles(guest: Guest) -> tuple[Console, ...]:
    if not guest.has_serial_console:
        return ()
    return (Console(type="pty", target=SerialTarget(type="serial", port=0)),)


def _is_logged(guest: Guest) -> bool:
    wish = guest.devices.log_serial_console
    return guest.facts.cluster.serial_console_log if wish is None else wish
