"""SSH keys and passwords that are put into the guest."""

from kubevirt.api.credentials import SSHPublicKeyAccessCredential, UserPasswordAccessCredential
from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.virt.validate.causes import Causes, invalid, required
from kubevirt.virt.validate.rules import Rules


def credential_causes(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> Causes:
    del rules
    for index, credential in enumerate(spec.access_credentials):
        at = f"{field}.accessCredentials[{index}]"
        if (credential.ssh_public_key is None) == (credential.user_password is None):
            yield invalid(at, f"{at} must have exactly one access credential type set")
            continue
        if credential.ssh_public_key:
            yield from _keys(spec, credential.ssh_public_key, f"{at}.sshPublicKey")
        if credential.user_password:
            yield from _passwords(credential.user_password, f"{at}.userPassword")


def _keys(spec: VirtualMachineInstanceSpec, keys: SSHPublicKeyAccessCredential, at: str) -> Causes:
    secret = keys.source.secret
    if secret is None or not secret.secret_name:
        yield required(f"{at}.source", f"{at} must have exactly one source set")
    method = keys.propagation_method
    ways = (method.config_drive, method.no_cloud, method.qemu_guest_agent)
    here = f"{at}.propagationMethod"
    if sum(way is not None for way in ways) != 1:
        yield invalid(here, f"{at} must have exactly one propagationMethod set")
    drives = any(volume.cloud_init_config_drive is not None for volume in spec.volumes)
    if method.config_drive is not None and not drives:
        yield invalid(
            here,
            f"{at} requires a cloudInitConfigDrive volume to exist when that propagation "
            f"method is used",
        )
    clouds = any(volume.cloud_init_no_cloud is not None for volume in spec.volumes)
    if method.no_cloud is not None and not clouds:
        yield invalid(
            here,
            f"{at} requires a noCloud volume to exist when the noCloud propagationMethod is in use.",
        )
    if method.qemu_guest_agent is not None and not method.qemu_guest_agent.users:
        yield required(
            f"{here}.qemuGuestAgent",
            f"{at} requires at least one user to be present in the users list",
        )


def _passwords(passwords: UserPasswordAccessCredential, at: str) -> Causes:
    secret = passwords.source.secret
    if secret is None or not secret.secret_name:
        yield required(f"{at}.source", f"{at} must have exactly one source set")
    if passwords.propagation_method.qemu_guest_agent is None:
        yield invalid(
            f"{at}.propagationMethod", f"{at} must have exactly one propagationMethod set"
        )
