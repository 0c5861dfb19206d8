"""What is written into objects. One that does not fit its type gets nothing: the server's schema says why."""

from collections.abc import Callable
from datetime import datetime

import msgspec

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.components.virtapi.admission.reviews import YES, Question, Verdict
from kubevirt.virt.admission_paths import CREATE
from kubevirt.virt.defaults import admitted
from kubevirt.virt.defaults.admitted import Patch
from kubevirt.virt.validate.requester import Requester


def machine(
    question: Question, requester: Requester, configuration: KubeVirtConfiguration
) -> Verdict:
    if question.operation == CREATE:
        return _patched(lambda: admitted.born_machine_patch(question.new, configuration))
    may_free = requester.is_ours or requester.is_administrator
    return _patched(
        lambda: admitted.changed_machine_patch(
            question.old, question.new, configuration, may_free=may_free
        )
    )


def instance(
    question: Question,
    requester: Requester,
    configuration: KubeVirtConfiguration,
    now: datetime,
) -> Verdict:
    if question.operation == CREATE:
        return _patched(lambda: admitted.new_instance_patch(question.new, configuration, now))
    return _patched(
        lambda: admitted.changed_instance_patch(
            question.old,
            question.new,
            is_ours=_may_tell(question, requester),
            may_free=requester.is_ours or requester.is_administrator,
        )
    )


def _may_tell(question: Question, requester: Requester) -> bool:
    """Whether they may write the status. An administrator may, but hardly means to take all of it away:
    that is what `kubectl replace` with one's own file would do.
    """
    return requester.is_ours or (requester.is_administrator and "status" in question.new)


def _patched(make: Callable[[], Patch]) -> Verdict:
    try:
        return Verdict(patch=make())
    except (msgspec.ValidationError, RecursionError):
        return YES
