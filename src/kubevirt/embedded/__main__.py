"""python -m kubevirt.embedded: the process of an embedded home; see `process/main.py`."""

import gc
import sys

gc.disable()  # until it is ready: what is loaded until then stays, and looking at it would take a tenth of the time

from kubevirt.embedded.process.main import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
