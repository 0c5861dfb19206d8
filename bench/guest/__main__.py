"""`.venv/bin/python -m bench.guest`, a part of `make bench`."""

import sys
from pathlib import Path

# Where the guest's builder and clusterup are.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "guest"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "cluster-up"))

from bench.guest.run import main

sys.exit(main())
