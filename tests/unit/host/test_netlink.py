"""Netlink, as it is first used."""

import subprocess
import sys

PROGRAM = """
import threading
from kubevirt.host.net.netlink import open_route_socket

gate = threading.Barrier(8)

def use():
    gate.wait()
    open_route_socket().close()
    print("used")

for each in [threading.Thread(target=use) for _ in range(8)]:
    each.start()
"""


def test_threads_may_all_be_the_first() -> None:
    """The library is imported by whoever comes first, in a process that has never seen it."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout.count("used"), done.stderr) == (8, "")
