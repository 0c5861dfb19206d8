"""What is written into objects. One that does not fit its type gets nothing: the server's schema says why."""

import uuid
from collections.abc import Callable
from datetime import datetime

import msgspec

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.machine import VirtualMachine
from kubevirt.components.virtapi.admission.reviews import YES, Question, Verdict
from kubevirt.virt.admission_paths import CREATE
from kubevirt.virt.defaults import admitted, inference
from kubevirt.virt.defaults.admitted import Patch
from kubevirt.virt.defaults.identity import Identity
from kubevirt.virt.validate.requester import Requester
from kubevirt.virt.validate.rules import Rules


def machine(question: Question, requester: Requester, rules: Rules) -> Verdict:
    def verdict() -> Verdict:
        vm = msgspec.convert(question.new, VirtualMachine)
        vain = inference.vain(vm.spec, rules.built)
        patch = _machine_patch(question, requester, rules.configuration)
        return Verdict(patch=(*patch, *inference.left_out(vain)), warnings=inference.warnings(vain))

    return _made(verdict)


def _machine_patch(
    question: Question, requester: Requester, configuration: KubeVirtConfiguration
) -> Patch:
    if question.operation == CREATE:
        return admitted.born_machine_patch(question.new, configuration, _drawn())
    may_free = requester.is_ours or requester.is_administrator
    return admitted.changed_machine_patch(
        question.old, question.new, configuration, may_free=may_free
    )


def instance(
    question: Question,
    requester: Requester,
    configuration: KubeVirtConfiguration,
    now: datetime,
) -> Verdict:
    def verdict() -> Verdict:
        if question.operation == CREATE:
            patch = admitted.new_instance_patch(question.new, configuration, now, _drawn())
            return Verdict(patch=patch)
        patch = admitted.changed_instance_patch(
            question.old,
            question.new,
            is_ours=_may_tell(question, requester),
            may_free=requester.is_ours or requester.is_administrator,
        )
        return Verdict(patch=patch)

    return _made(verdict)


def _may_tell(question: Question, requester: Requester) -> bool:
    """Whether they may write the status. An administrator may, but hardly means to take all of it away:
    that is what `kubectl replace` with one's own file would do.
    """
    return requester.is_ours or (requester.is_administrator and "status" in question.new)


def _drawn() -> Identity:
    return Identity(uuid=str(uuid.uuid4()), serial=str(uuid.uuid4()))


def _made(make: Callable[[], Verdict]) -> Verdict:
    try:
        return make()
    except (msgspec.ValidationError, RecursionError):
        return YES
