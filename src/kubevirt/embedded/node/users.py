"""Who a container runs as and what it may do: its security context, its pod's, and its image's word."""

from typing import Final

import msgspec

from kubevirt.api.core.container import Capabilities, Container, SecurityContext
from kubevirt.api.core.pod import Pod, PodSecurityContext
from kubevirt.base.errors import UserError
from kubevirt.embedded.node.accounts import Account, Accounts
from kubevirt.embedded.node.container_status import full_name
from kubevirt.embedded.node.environment import REASON
from kubevirt.embedded.objects.pods import spec_of
from kubevirt.embedded.runtime import capabilities
from kubevirt.embedded.runtime.container import Rights

_NOTHING: Final = SecurityContext()
_NOTHING_OF_POD: Final = PodSecurityContext()
_NO_CAPABILITIES: Final = Capabilities()


class NotAllowed(UserError):  # noqa: N818  # it is what the user is
    """A user that the pod itself does not allow, or that the image does not know."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason=REASON)


class User(msgspec.Struct, frozen=True, kw_only=True):
    rights: Rights
    home: str


def of(pod: Pod, container: Container, image_user: str, accounts: Accounts) -> User:
    own = container.security_context or _NOTHING
    pods = spec_of(pod).security_context or _NOTHING_OF_POD
    asked = own.run_as_user if own.run_as_user is not None else pods.run_as_user
    named, _, image_group = image_user.partition(":")
    account = _account(str(asked) if asked is not None else named, accounts)
    _check_not_root(pod, container, asked, named, account)
    group = own.run_as_group if own.run_as_group is not None else pods.run_as_group
    if group is None:
        group = _group(image_group if asked is None else "", account, accounts)
    rights = Rights(
        user=account.user,
        group=group,
        groups=_more_groups(pods, group, account, accounts),
        capabilities=_capabilities(own),
        is_filtered=_is_filtered(own, pods),
    )
    return User(rights=rights, home=account.home)


def _account(text: str, accounts: Accounts) -> Account:
    """Of a number that the image does not know: itself, and the group of the administrator."""
    found = accounts.user(text or "0")
    if found is not None:
        return found
    if not text or text.isdecimal():
        return Account(name="", user=int(text or 0), group=0, home="/root" if not text else "/")
    raise NotAllowed(f"unable to find user {text}: no matching entries in passwd file")


def _group(text: str, account: Account, accounts: Accounts) -> int:
    if not text:
        return account.group
    found = accounts.group(text)
    if found is None:
        raise NotAllowed(f"unable to find group {text}: no matching entries in group file")
    return found


def _check_not_root(
    pod: Pod, container: Container, asked: int | None, named: str, account: Account
) -> None:
    """In a kubelet's words."""
    own = container.security_context or _NOTHING
    pods = spec_of(pod).security_context or _NOTHING_OF_POD
    wants = own.run_as_non_root if own.run_as_non_root is not None else pods.run_as_non_root
    if not wants:
        return
    who = f'(pod: "{full_name(pod)}", container: {container.name})'
    if asked is not None:
        if asked == 0:
            raise NotAllowed(f"container's runAsUser breaks non-root policy {who}")
    elif named and not named.isdecimal():
        raise NotAllowed(
            f"container has runAsNonRoot and image has non-numeric user ({named}), cannot verify user"
            f" is non-root {who}"
        )
    elif account.user == 0:
        raise NotAllowed(f"container has runAsNonRoot and image will run as root {who}")


def _more_groups(
    pods: PodSecurityContext, group: int, account: Account, accounts: Accounts
) -> tuple[int, ...]:
    asked = [*pods.supplemental_groups]
    if pods.fs_group is not None:
        asked.append(pods.fs_group)
    if pods.supplemental_groups_policy != "Strict" and account.name:
        asked += accounts.groups_of(account.name)
    return tuple(sorted({*asked} - {group}))


def _capabilities(own: SecurityContext) -> tuple[str, ...]:
    said = own.capabilities or _NO_CAPABILITIES
    return tuple(sorted(capabilities.granted(said.add, said.drop)))


def _is_filtered(own: SecurityContext, pods: PodSecurityContext) -> bool:
    profile = own.seccomp_profile or pods.seccomp_profile
    return profile is None or profile.type != "Unconfined"
