"""What was changed in a network, in words, each told before it is done.

An empty journal is the proof that nothing was to do. A full one ends with what was under way when
something went wrong.
"""

from kubevirt.base.log import Logger, get_logger

_log = get_logger("host.net")


class Journal:
    def __init__(self, log: Logger = _log) -> None:
        self.changes: list[str] = []
        self._log = log

    def note(self, change: str) -> None:
        self._log.debug("changing the network", change=change)
        self.changes.append(change)
