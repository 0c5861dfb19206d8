"""Objects on their way into the server, and the patch that makes them whole.

An object that cannot be filled gets no patch: the validator, which comes next, says why with the field.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine
from kubevirt.base.errors import UserError
from kubevirt.virt.defaults.birth import OURS, born
from kubevirt.virt.defaults.identity import NONE, Identity, identity_in, with_identity
from kubevirt.virt.defaults.instance import with_defaults
from kubevirt.virt.defaults.patch import Operation, difference
from kubevirt.virt.defaults.platform import with_machine
from kubevirt.virt.defaults.probes import with_probes
from kubevirt.virt.defaults.settings import Settings, architecture_for
from kubevirt.virt.instance.names import MACHINE_FINALIZER

Patch = tuple[Operation, ...]
Raw = Mapping[str, Any]


def new_instance(
    vmi: VirtualMachineInstance,
    configuration: KubeVirtConfiguration,
    now: datetime,
    identity: Identity = NONE,
) -> VirtualMachineInstance:
    """The whole instance, as it is stored. `identity` is for one without a UUID: no machine made it."""
    fresh = born(vmi, configuration, now)
    filled = with_defaults(fresh, configuration, firmware_uuid=identity.uuid)
    return replace(filled, spec=with_probes(filled.spec))


def new_instance_patch(
    raw: Raw, configuration: KubeVirtConfiguration, now: datetime, identity: Identity
) -> Patch:
    """`raw` is the object of the request as plain JSON, which may hold more than our types know."""
    vmi = msgspec.convert(raw, VirtualMachineInstance)
    try:
        whole = new_instance(vmi, configuration, now, identity)
    except UserError:
        return ()
    changed = _json(whole)
    status = changed.pop("status")
    plain = _json(vmi)
    plain.pop("status", None)
    return (*difference(plain, changed), Operation("add", "/status", status))


def changed_instance_patch(old: Raw, new: Raw, *, is_ours: bool, may_free: bool) -> Patch:
    """An instance has no status subresource, so a write to it by anybody else is undone here.

    `may_free`: whether the requester may take our finalizers off.
    """
    patch = () if is_ours or may_free else kept_finalizers(old, new)
    if is_ours or old.get("status") == new.get("status"):
        return patch
    if "status" in old:
        return (*patch, Operation("add", "/status", old["status"]))
    return (*patch, Operation("remove", "/status"))


def machine_patch(raw: Raw, configuration: KubeVirtConfiguration, identity: Identity) -> Patch:
    """Board and identity are fixed for good: a cluster's new default moves no old guest."""
    vm = msgspec.convert(raw, VirtualMachine)
    template = vm.spec.template
    if template.spec is None:
        return ()
    settings = Settings(configuration=configuration)
    try:
        architecture = architecture_for(template.spec.architecture, settings)
    except UserError:
        return ()
    spec = with_machine(template.spec, settings, architecture)
    spec = with_identity(spec, identity)
    return difference(_json(template.spec), _json(spec), "/spec/template/spec")


def born_machine_patch(raw: Raw, configuration: KubeVirtConfiguration, identity: Identity) -> Patch:
    """For one that is created: our finalizer too, which the controller then need not write."""
    own = _finalizers(raw)
    held = (
        ()
        if MACHINE_FINALIZER in own
        else (Operation("add", "/metadata/finalizers", [*own, MACHINE_FINALIZER]),)
    )
    return (*held, *machine_patch(raw, configuration, identity))


def changed_machine_patch(
    old: Raw, new: Raw, configuration: KubeVirtConfiguration, *, may_free: bool
) -> Patch:
    """`kubectl replace` with the user's own file must neither free a machine nor move its guest, nor
    make another one of it.
    """
    kept = () if may_free else kept_finalizers(old, new)
    return (*kept, *machine_patch(new, configuration, _identity_of(old)))


def _identity_of(old: Raw) -> Identity:
    """None where what is stored does not fit its kind: then nobody can say what it was."""
    try:
        return identity_in(msgspec.convert(old, VirtualMachine).spec.template.spec)
    except msgspec.ValidationError:
        return NONE


def kept_finalizers(old: Raw, new: Raw) -> Patch:
    """Our finalizers, put back where somebody else took them off."""
    before, after = _finalizers(old), _finalizers(new)
    lost = [name for name in before if name in OURS and name not in after]
    if not lost:
        return ()
    return (Operation("add", "/metadata/finalizers", [*after, *lost]),)


def _finalizers(raw: Raw) -> Sequence[str]:
    return (raw.get("metadata") or {}).get("finalizers") or ()


def _json(value: msgspec.Struct) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value))
    return found
