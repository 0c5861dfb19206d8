"""What a process that died left on the machine, taken away without a new one."""

from kubevirt.embedded.home import Home


async def clear(home: Home) -> None:
    """Pods first, then what they stood on."""
