"""Secrets with keys and passwords that are put into the guest."""

from kubevirt.api.core.pod_volumes import SecretVolumeSource, Volume
from kubevirt.api.credentials import AccessCredential, AccessCredentialSecretSource
from kubevirt.virt.pod import names
from kubevirt.virt.pod.launch import Launch
from kubevirt.virt.pod.storage import Storage, mounted


def credentials(launch: Launch) -> Storage:
    """Each Secret once, however many credentials name it."""
    secrets = dict.fromkeys(filter(None, map(_secret_name, launch.spec.access_credentials)))
    return Storage.together(
        mounted(
            Volume(
                name=names.label("Secret's volume", names.fitting(f"{secret}-access-cred")),
                secret=SecretVolumeSource(secret_name=secret),
            ),
            launch.layout.access_credential(secret),
            read_only=True,
        )
        for secret in secrets
    )


def _secret_name(credential: AccessCredential) -> str | None:
    secret: AccessCredentialSecretSource | None = None
    if credential.ssh_public_key:
        secret = credential.ssh_public_key.source.secret
    elif credential.user_password:
        secret = credential.user_password.source.secret
    return secret.secret_name if secret else None
