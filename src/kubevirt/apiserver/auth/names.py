"""Names that Kubernetes gives a meaning: users, groups, and what is told about a credential."""

import re
from typing import Final

ANONYMOUS_USER: Final = "system:anonymous"
MASTERS: Final = "system:masters"
AUTHENTICATED: Final = "system:authenticated"
UNAUTHENTICATED: Final = "system:unauthenticated"
NODES: Final = "system:nodes"
NODE_PREFIX: Final = "system:node:"

SERVICE_ACCOUNTS: Final = "system:serviceaccounts"
_SERVICE_ACCOUNT_PREFIX: Final = "system:serviceaccount:"

CREDENTIAL_ID: Final = "authentication.kubernetes.io/credential-id"
POD_NAME: Final = "authentication.kubernetes.io/pod-name"
POD_UID: Final = "authentication.kubernetes.io/pod-uid"
NODE_NAME: Final = "authentication.kubernetes.io/node-name"
NODE_UID: Final = "authentication.kubernetes.io/node-uid"

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def service_account_user(namespace: str, name: str) -> str:
    return f"{_SERVICE_ACCOUNT_PREFIX}{namespace}:{name}"


def service_account_groups(namespace: str) -> tuple[str, str]:
    return SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{namespace}"


def service_account_of(user: str) -> tuple[str, str] | None:
    """Namespace and name, if the user is a service account."""
    if not user.startswith(_SERVICE_ACCOUNT_PREFIX):
        return None
    namespace, colon, name = user.removeprefix(_SERVICE_ACCOUNT_PREFIX).partition(":")
    if not colon or not _LABEL.fullmatch(namespace):
        return None
    if len(name) > 253 or not _SUBDOMAIN.fullmatch(name):
        return None
    return namespace, name
