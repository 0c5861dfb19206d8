"""Endpoints that are no objects: questions that are answered and kept nowhere, and what is done to one.

    registry.answerers["authorization.k8s.io", "subjectaccessreviews", ""] = review
    registry.answerers["", "pods", "binding"] = bind

Whoever knows the answer registers for the resource and the subresource; a special endpoint for which
nobody has is said not to be served.
"""

from collections.abc import Awaitable, Callable

from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.incoming import Body
from kubevirt.apiserver.registry.results import Plain

Endpoint = tuple[str, str, str]
"""Group, plural name and subresource."""
Answerer = Callable[[Call, Body], Awaitable[Plain]]
