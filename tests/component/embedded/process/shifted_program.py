"""The process of a home on a machine whose clock somebody sets: ahead by as many seconds as a file says.

python shifted_program.py FILE --home … --report 1
"""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kubevirt.base.clock import SystemClock
from kubevirt.embedded.process.main import main


def shift(file: Path) -> None:
    def now(_: SystemClock) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=float(file.read_text()))

    setattr(SystemClock, "now", now)  # noqa: B010  # for all who have one already


if __name__ == "__main__":
    shift(Path(sys.argv.pop(1)))
    sys.exit(main())
