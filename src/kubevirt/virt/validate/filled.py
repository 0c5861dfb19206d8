"""A spec as its guest will have it: judged with its defaults, since what they add is no mistake of its
author, and what they cannot add is one.
"""

from kubevirt.api.instance import VirtualMachineInstance, VirtualMachineInstanceSpec
from kubevirt.api.meta import ObjectMeta
from kubevirt.base.errors import UserError
from kubevirt.virt.defaults.instance import with_defaults
from kubevirt.virt.validate.causes import Causes, invalid
from kubevirt.virt.validate.instance_spec import spec_causes
from kubevirt.virt.validate.rules import Rules


def filled_spec_causes(
    spec: VirtualMachineInstanceSpec, meta: ObjectMeta, field: str, rules: Rules
) -> Causes:
    vmi = VirtualMachineInstance(metadata=meta, spec=spec)
    try:
        filled = with_defaults(vmi, rules.configuration).spec
    except UserError as error:
        causes = tuple(spec_causes(spec, field, rules))
        yield from causes or (invalid(field, str(error)),)
    else:
        yield from spec_causes(filled, field, rules)
