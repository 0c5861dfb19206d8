"""Where programs of the machine are looked for. On its own, for those who start none themselves and have no time to lose."""

from typing import Final

SEARCH_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
