"""How many files a process may have open."""

import resource


def open_many() -> None:
    """As many as the system lets us: each client that watches has one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
