"""python -m kubevirt.embedded: the process of an embedded home; see `process/main.py`."""

import sys

from kubevirt.embedded.process.main import main

if __name__ == "__main__":
    sys.exit(main())
