"""Credentials that are put into a running guest."""

from typing import Annotated

from kubevirt.api.struct import SET, Struct


class AccessCredentialSecretSource(Struct, frozen=True, kw_only=True):
    """Secret that holds a credential."""

    secret_name: str
    """Secret in this namespace."""


class ConfigDriveSSHPublicKeyAccessCredentialPropagation(Struct, frozen=True, kw_only=True):
    """By cloudInitConfigDrive at boot; has no settings."""


class NoCloudSSHPublicKeyAccessCredentialPropagation(Struct, frozen=True, kw_only=True):
    """By cloudInitNoCloud at boot; has no settings."""


class QemuGuestAgentSSHPublicKeyAccessCredentialPropagation(Struct, frozen=True, kw_only=True):
    """By the guest agent while the guest runs."""

    users: Annotated[tuple[str, ...], SET]
    """Guest users whose authorized_keys receive the keys."""


class QemuGuestAgentUserPasswordAccessCredentialPropagation(Struct, frozen=True, kw_only=True):
    """By the guest agent; has no settings."""


class SSHPublicKeyAccessCredentialPropagationMethod(Struct, frozen=True, kw_only=True):
    """Way of an SSH key into the guest; exactly one."""

    config_drive: ConfigDriveSSHPublicKeyAccessCredentialPropagation | None = None
    """At boot; needs a cloudInitConfigDrive volume."""
    no_cloud: NoCloudSSHPublicKeyAccessCredentialPropagation | None = None
    """At boot; needs a cloudInitNoCloud volume."""
    qemu_guest_agent: QemuGuestAgentSSHPublicKeyAccessCredentialPropagation | None = None
    """While running, and again when the Secret changes; needs the guest agent."""


class SSHPublicKeyAccessCredentialSource(Struct, frozen=True, kw_only=True):
    """Where SSH keys come from."""

    secret: AccessCredentialSecretSource | None = None
    """Secret with one public key in each entry."""


class SSHPublicKeyAccessCredential(Struct, frozen=True, kw_only=True):
    """SSH public keys for the guest."""

    propagation_method: SSHPublicKeyAccessCredentialPropagationMethod
    """How the keys get in."""
    source: SSHPublicKeyAccessCredentialSource
    """Where the keys come from."""


class UserPasswordAccessCredentialPropagationMethod(Struct, frozen=True, kw_only=True):
    """Way of a password into the guest."""

    qemu_guest_agent: QemuGuestAgentUserPasswordAccessCredentialPropagation | None = None
    """Set while running, and again when the Secret changes; needs the guest agent."""


class UserPasswordAccessCredentialSource(Struct, frozen=True, kw_only=True):
    """Where passwords come from."""

    secret: AccessCredentialSecretSource | None = None
    """Secret with user names as keys and passwords as values."""


class UserPasswordAccessCredential(Struct, frozen=True, kw_only=True):
    """Passwords of guest users."""

    propagation_method: UserPasswordAccessCredentialPropagationMethod
    """How the passwords get in."""
    source: UserPasswordAccessCredentialSource
    """Where the passwords come from."""


class AccessCredential(Struct, frozen=True, kw_only=True):
    """Means of logging in to the guest: keys or passwords."""

    ssh_public_key: SSHPublicKeyAccessCredential | None = None
    """SSH public keys."""
    user_password: UserPasswordAccessCredential | None = None
    """Passwords."""
