"""Endpoints that are no objects: questions that are answered and kept nowhere, and what is done to one.

    registry.answerers["authorization.k8s.io", "subjectaccessreviews", ""] = review
    registry.answerers["", "pods", "binding"] = bind

Whoever knows the answer registers for the resource and the subresource; a special endpoint for which
nobody has is said not to be served. What they are sent passes admission, once it is known to make sense.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from kubevirt.apiserver.registry import options
from kubevirt.apiserver.registry.admission import Review
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.incoming import Body
from kubevirt.apiserver.registry.results import Plain

if TYPE_CHECKING:  # the registry holds those who answer
    from kubevirt.apiserver.registry.registry import Registry

Object = dict[str, Any]

Endpoint = tuple[str, str, str]
"""Group, plural name and subresource."""
Answerer = Callable[[Call, Body], Awaitable[Plain]]


async def admitted(registry: "Registry", call: Call, object_: Object) -> Object:
    """What was sent to a special endpoint, as admission lets it through."""
    review = Review(
        call=call,
        operation="CREATE",
        dry_run=options.of_write(call).dry_run,
        options=options.document(call, "CreateOptions"),
    )
    made = await registry.admission.mutate(object_, review)
    await registry.admission.validate(made, review)
    return made


async def admit_connection(registry: "Registry", call: Call, wanted: Object) -> None:
    """Before a program is started in a pod, or its terminal is taken: `wanted` says how, as a
    PodExecOptions and the like.
    """
    review = Review(call=call, operation="CONNECT")
    await registry.admission.mutate(wanted, review)
    await registry.admission.validate(wanted, review)
