"""`.venv/bin/python -m bench`, which is what `make bench` runs."""

import sys
from pathlib import Path

# Where clusterup is.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cluster-up"))

from bench.run import main

sys.exit(main())
