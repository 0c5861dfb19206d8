"""What an agent in the guest has to be able to do, and the word about one that cannot. Pure.

An agent is judged by its commands, not by its version: a distribution may switch some off, as several do with those
that run programs. A probe then fails for a reason that nobody sees from outside.
"""

from typing import Final

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.virt.conditions import TRUE, Told

BASIC: Final = frozenset(
    {
        "guest-get-fsinfo",
        "guest-get-host-name",
        "guest-get-osinfo",
        "guest-get-time",
        "guest-get-timezone",
        "guest-get-users",
        "guest-info",
        "guest-network-get-interfaces",
        "guest-ping",
        "guest-shutdown",
    }
)
EXEC: Final = frozenset({"guest-exec", "guest-exec-status"})
KEYS: Final = frozenset(
    {
        "guest-ssh-add-authorized-keys",
        "guest-ssh-get-authorized-keys",
        "guest-ssh-remove-authorized-keys",
    }
)
PASSWORDS: Final = frozenset({"guest-set-user-password"})
JUDGED: Final = BASIC | EXEC | KEYS | PASSWORDS


def unsupported(vmi: VirtualMachineInstance, commands: frozenset[str] | None) -> Told | None:
    """`commands` are those that the agent offers; None while nobody knows them."""
    if commands is None:
        return None
    for what, needed, is_needed in (
        ("basic", BASIC, True),
        ("public key", KEYS, _has_keys(vmi)),
        ("password", PASSWORDS, _has_passwords(vmi)),
        ("exec probe", EXEC, _has_exec_probe(vmi)),
    ):
        missing = sorted(needed - commands)
        if is_needed and missing:
            text = (
                f"the agent in the guest does not offer {', '.join(missing)}; allow it in the "
                f"configuration of qemu-ga there, or install a newer one"
            )
            return Told(TRUE, f"This guest agent doesn't support required {what} commands", text)
    return None


def _has_keys(vmi: VirtualMachineInstance) -> bool:
    return any(
        each.ssh_public_key is not None
        and each.ssh_public_key.propagation_method.qemu_guest_agent is not None
        for each in vmi.spec.access_credentials
    )


def _has_passwords(vmi: VirtualMachineInstance) -> bool:
    return any(each.user_password is not None for each in vmi.spec.access_credentials)


def _has_exec_probe(vmi: VirtualMachineInstance) -> bool:
    probes = (vmi.spec.readiness_probe, vmi.spec.liveness_probe)
    return any(each is not None and each.exec is not None for each in probes)
