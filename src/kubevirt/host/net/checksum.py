"""Checksums left to hardware, switched by ethtool's old call, which every link understands.

pyroute2 can do it too, for 5 MB more.
"""

import array
import fcntl
import socket
import struct
from typing import Final

_SIOCETHTOOL: Final = 0x8946
_ETHTOOL_GTXCSUM: Final = 0x16
_ETHTOOL_STXCSUM: Final = 0x17


def sends_unfinished_checksums(link: str) -> bool:
    """Of a link in the calling thread's namespace."""
    return bool(_ethtool(link, _ETHTOOL_GTXCSUM, 0))


def set_unfinished_checksums(link: str, *, on: bool) -> None:
    _ethtool(link, _ETHTOOL_STXCSUM, int(on))


def _ethtool(link: str, command: int, value: int) -> int:
    """`struct ifreq` with the link's name and a pointer to a `struct ethtool_value`."""
    data = array.array("I", [command, value])
    address, _ = data.buffer_info()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as control:
        fcntl.ioctl(control, _SIOCETHTOOL, struct.pack("16sP16x", link.encode(), address))
    return data[1]
