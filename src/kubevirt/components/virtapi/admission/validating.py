"""What is refused, and what is warned of."""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from kubevirt.api.installation import KubeVirt
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine
from kubevirt.components.virtapi.admission.reviews import YES, Question, Raw, Verdict
from kubevirt.virt.admission_paths import CREATE, UPDATE
from kubevirt.virt.validate import (
    installation,
    instance,
    machine,
    missing,
    nodes,
    ownership,
    warned,
)
from kubevirt.virt.validate.causes import Cause, first, invalid, plain
from kubevirt.virt.validate.requester import Requester
from kubevirt.virt.validate.rules import Rules

T = TypeVar("T")


def machine_verdict(question: Question, rules: Rules) -> Verdict:
    def judge() -> Verdict:
        new = _read(question.new, VirtualMachine)
        if question.operation == CREATE:
            causes = machine.created(new, rules)
        elif _has_same_spec(question):
            return YES
        else:
            causes = machine.updated(_read(question.old, VirtualMachine), new, rules)
        return Verdict(causes=causes, warnings=warned.machine_warnings(new.spec, rules))

    return _judged(judge)


def new_instance_verdict(question: Question, requester: Requester, rules: Rules) -> Verdict:
    def judge() -> Verdict:
        vmi = _read(question.new, VirtualMachineInstance)
        return Verdict(
            causes=instance.created(vmi, requester, rules),
            warnings=warned.guest_warnings(vmi.spec, "spec", rules),
        )

    return _judged(judge)


def changed_instance_verdict(question: Question, requester: Requester, rules: Rules) -> Verdict:
    def judge() -> Verdict:
        old = _read(question.old, VirtualMachineInstance)
        new = _read(question.new, VirtualMachineInstance)
        return Verdict(causes=instance.updated(old, new, requester, rules))

    return _judged(judge)


def status_verdict(requester: Requester) -> Verdict:
    return Verdict(causes=first(ownership.status_causes(requester)))


def node_verdict(question: Question, requester: Requester, rules: Rules) -> Verdict:
    return Verdict(
        causes=first(nodes.node_write_causes(question.old, question.new, requester, rules))
    )


def settings_verdict(question: Question) -> Verdict:
    """Never a refusal. What does not fit its kind is the schema's business."""
    try:
        new = _read(question.new, KubeVirt)
        old = _read(question.old, KubeVirt) if question.operation == UPDATE else None
    except (msgspec.ValidationError, RecursionError):
        return YES
    return Verdict(warnings=installation.warnings(old, new))


def unbuilt_verdict(question: Question, rules: Rules) -> Verdict:
    if question.operation != CREATE:
        return YES
    about = question.resource
    return Verdict(causes=first(missing.kind_causes(about.resource, about.group, rules)))


def _has_same_spec(question: Question) -> bool:
    """Then nobody looks at it: what was stored once must stay free to be labelled and to go."""
    return question.old.get("spec") == question.new.get("spec")


def _judged(judge: Callable[[], Verdict]) -> Verdict:
    try:
        return judge()
    except msgspec.ValidationError as error:
        return Verdict(causes=(_unfit(str(error)),))
    except RecursionError:
        return Verdict(causes=(_unfit("it is nested too deep"),))


def _unfit(why: str) -> Cause:
    return invalid("", f"the object does not fit its kind: {plain(why)}")


def _read(raw: Raw, kind: type[T]) -> T:
    return msgspec.convert(raw, kind)
