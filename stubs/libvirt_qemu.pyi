# What we use of libvirt-python's QEMU part, in its spelling.
# ruff: noqa: N802

import libvirt

def qemuAgentCommand(domain: libvirt.virDomain, cmd: str, timeout: int, flags: int) -> str: ...
