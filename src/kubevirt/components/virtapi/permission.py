"""Whether somebody may make a call: the API server is asked each time, and it alone decides.

The server asked itself already before it passed the call on, but by the beginning of the path only; and whoever
reaches us by another way has been asked by nobody.
"""

from typing import Final

from kubevirt.api.core.reviews import (
    ResourceAttributes,
    SubjectAccessReview,
    SubjectAccessReviewSpec,
)
from kubevirt.api.scheme import SUBJECT_ACCESS_REVIEWS
from kubevirt.components.virtapi.identity import Asker
from kubevirt.components.virtapi.path import Asked
from kubevirt.kube.client import Client
from kubevirt.virt.commands.calls import GROUP
from kubevirt.virt.commands.refusal import not_authenticated

UNSAID: Final = "access is denied"


def review(asker: Asker, asked: Asked) -> SubjectAccessReview:
    attributes = ResourceAttributes(
        group=GROUP,
        version=asked.version,
        namespace=asked.namespace,
        resource=asked.call.resource,
        subresource=asked.call.subresource or None,
        name=asked.name or None,
        verb=asked.call.verb,
    )
    return SubjectAccessReview(
        spec=SubjectAccessReviewSpec(
            user=asker.user,
            uid=asker.uid or None,
            groups=asker.groups,
            extra=asker.extra,
            resource_attributes=attributes,
        )
    )


async def check(client: Client, asker: Asker, asked: Asked) -> None:
    found = await client.create(SUBJECT_ACCESS_REVIEWS, review(asker, asked))
    if found.status is None or not found.status.allowed:
        # 401 where one would expect 403: KubeVirt's.
        raise not_authenticated((found.status and found.status.reason) or _denied(asker, asked))


def _denied(asker: Asker, asked: Asked) -> str:
    call = asked.call
    return (
        f'{UNSAID}: user "{asker.user}" cannot {call.verb} resource "{call.name}" in API group '
        f'"{GROUP}" in the namespace "{asked.namespace}"'
    )
