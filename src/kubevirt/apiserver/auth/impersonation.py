"""To act as another: every part of the other's identity must be allowed on its own.

Whoever may impersonate a user, but not the group `system:masters`, does not become an administrator by naming it.
"""

from collections.abc import Iterator

import msgspec

from kubevirt.apiserver.auth.headers import Headers
from kubevirt.apiserver.auth.names import (
    ANONYMOUS_USER,
    AUTHENTICATED,
    UNAUTHENTICATED,
    service_account_groups,
    service_account_of,
)
from kubevirt.apiserver.http.asked import Asked
from kubevirt.apiserver.refusals import internal
from kubevirt.apiserver.registry.identity import Identity

_USER = "Impersonate-User"
_GROUP = "Impersonate-Group"
_UID = "Impersonate-Uid"
_EXTRA = "Impersonate-Extra-"
_AUTHENTICATION = "authentication.k8s.io"


class Impersonation(msgspec.Struct, frozen=True):
    checks: tuple[Asked, ...]
    """What the one who asks must be allowed, each of them."""
    identity: Identity
    """Whom they act as then."""


def wanted(headers: Headers) -> Impersonation | None:
    """None if nobody is to be impersonated."""
    user = headers.first(_USER)
    groups = headers.all(_GROUP)
    uid = headers.first(_UID)
    extra = dict(headers.below(_EXTRA))
    if not user:
        if groups or uid or extra:
            raise internal(
                "groups, a UID or extra values were requested without impersonating a user"
            )
        return None
    identity = Identity(user=user, uid=uid, groups=_groups(user, groups), extra=extra)
    return Impersonation(tuple(_checks(user, groups, uid, headers)), identity)


def _checks(user: str, groups: tuple[str, ...], uid: str, headers: Headers) -> Iterator[Asked]:
    account = service_account_of(user)
    if account:
        yield _asked("serviceaccounts", account[1], namespace=account[0])
    else:
        yield _asked("users", user)
    for group in groups:
        yield _asked("groups", group)
    for key, values in headers.below(_EXTRA):
        for value in values:
            yield _asked("userextras", value, group=_AUTHENTICATION, subresource=key)
    if uid:
        yield _asked("uids", uid, group=_AUTHENTICATION)


def _asked(
    resource: str, name: str, *, group: str = "", namespace: str = "", subresource: str = ""
) -> Asked:
    return Asked(
        verb="impersonate",
        path="",
        is_resource=True,
        group=group,
        version="v1",
        namespace=namespace,
        resource=resource,
        subresource=subresource,
        name=name,
    )


def _groups(user: str, named: tuple[str, ...]) -> tuple[str, ...]:
    """Those that were named and, unless they say it themselves, whether the user is known."""
    account = service_account_of(user)
    groups = named or (service_account_groups(account[0]) if account else ())
    if user == ANONYMOUS_USER:
        return groups if UNAUTHENTICATED in groups else (*groups, UNAUTHENTICATED)
    if AUTHENTICATED in groups or UNAUTHENTICATED in groups:
        return groups
    return (*groups, AUTHENTICATED)
