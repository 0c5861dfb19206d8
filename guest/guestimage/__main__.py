"""`python -m guestimage`."""

import sys

from guestimage import cli

sys.exit(cli.main())
