"""Credentials that are put into a running guest."""

from typing import Annotated

from kubevirt.api.struct import SET, Struct


class AccessCredentialSecretSource(Struct, frozen=True, kw_only=True):
    """…"""

    secret_name: str


class ConfigDriveSSHPublicKeyAccessCredentialPropagation(Struct, frozen=True, kw_only=True):
    """…"""


class NoCloudSSHPublicKeyAccessCredentialPropagation(Struct, frozen=True, kw_only=True):
    """…"""


class QemuGuestAgentSSHPublicKeyAccessCredentialPropagation(Struct, frozen=True, kw_only=True):
    """…"""

    users: Annotated[tuple[str, ...], SET]


class QemuGuestAgentUserPasswordAccessCredentialPropagation(Struct, frozen=True, kw_only=True):
    """…"""


class SSHPublicKeyAccessCredentialPropagationMethod(Struct, frozen=True, kw_only=True):
    """…"""

    config_drive: ConfigDriveSSHPublicKeyAccessCredentialPropagation | None = None
    no_cloud: NoCloudSSHPublicKeyAccessCredentialPropagation | None = None
    qemu_guest_agent: QemuGuestAgentSSHPublicKeyAccessCredentialPropagation | None = None


class SSHPublicKeyAccessCredentialSource(Struct, frozen=True, kw_only=True):
    """…"""

    secret: AccessCredentialSecretSource | None = None


class SSHPublicKeyAccessCredential(Struct, frozen=True, kw_only=True):
    """…"""

    propagation_method: SSHPublicKeyAccessCredentialPropagationMethod
    source: SSHPublicKeyAccessCredentialSource


class UserPasswordAccessCredentialPropagationMethod(Struct, frozen=True, kw_only=True):
    """…"""

    qemu_guest_agent: QemuGuestAgentUserPasswordAccessCredentialPropagation | None = None


class UserPasswordAccessCredentialSource(Struct, frozen=True, kw_only=True):
    """…"""

    secret: AccessCredentialSecretSource | None = None


class UserPasswordAccessCredential(Struct, frozen=True, kw_only=True):
    """…"""

    propagation_method: UserPasswordAccessCredentialPropagationMethod
    source: UserPasswordAccessCredentialSource


class AccessCredential(Struct, frozen=True, kw_only=True):
    """…"""

    ssh_public_key: SSHPublicKeyAccessCredential | None = None
    user_password: UserPasswordAccessCredential | None = None
