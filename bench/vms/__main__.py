"""`.venv/bin/python -m bench.vms`, the sixth part of `make bench`."""

import sys
from pathlib import Path

# Where clusterup is.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "cluster-up"))

from bench.vms.run import main

sys.exit(main())
