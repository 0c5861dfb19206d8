"""`python -m clusterup`."""

import sys

from clusterup import cli

sys.exit(cli.main())
