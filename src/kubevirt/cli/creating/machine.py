"""The manifest of a machine, from what was wished for.

Where no size is given, it may be inferred from the volume that the guest boots from; asked for by nobody, that
is only tried (the server is told to ignore that it fails), and the memory stays as what it falls back on.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from kubevirt.base.errors import UserError
from kubevirt.cli.creating import cloud_init, credentials, imports, volumes
from kubevirt.cli.creating.cloud_init import CloudInit
from kubevirt.cli.creating.draft import Draft, Json
from kubevirt.cli.creating.parameters import prefixed, quantity

MEMORY: Final = "512Mi"
GRACE_PERIOD_S: Final = 180
RUN_STRATEGIES: Final = ("Always", "Manual", "Halted", "Once", "RerunOnFailure")
_INSTANCETYPES: Final = ("virtualmachineinstancetype", "virtualmachineclusterinstancetype")
_PREFERENCES: Final = ("virtualmachinepreference", "virtualmachineclusterpreference")
_TELLING: Final = ("pvc", "registry", "snapshot")
"""Sources of data volumes that may say what size they are for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """Of an instance type or a preference."""

    name: str = ""
    """Given by name, and so not inferred."""
    is_on: bool = True
    volume: str = ""
    """From which; the one that the guest boots from unless named."""
    is_explicit: bool = False
    """Somebody asked for it, and so wants to hear that it cannot be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    name: str
    namespace: str = ""
    run_strategy: str = "Always"
    grace_period_s: int = GRACE_PERIOD_S
    memory: str = ""
    """Empty where nobody said."""
    instancetype: Inference = Inference()
    preference: Inference = Inference()
    container_disks: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    imported: tuple[str, ...] = ()
    sysprep: str = ""
    credentials: tuple[str, ...] = ()
    data_source: str = ""
    """The kind of cloud-init's, where somebody chose it."""
    agent_manages_ssh: bool | None = None
    """None where nobody said."""
    told: CloudInit = field(default_factory=CloudInit)
    """What cloud-init is told, as far as flags say it."""


def manifest(wish: Wish, chance: Callable[[], str]) -> Json:
    if wish.run_strategy not in RUN_STRATEGIES:
        raise UserError(
            f"--run-strategy: there is no {wish.run_strategy!r}; there are {', '.join(RUN_STRATEGIES)}",
            reason="Usage",
        )
    draft = Draft(wish.name)
    volumes.add_container_disks(draft, wish.container_disks)
    volumes.add_claims(draft, wish.claims)
    imports.add(draft, wish.imported, chance)
    volumes.add_sysprep(draft, wish.sysprep)
    needs = credentials.add(draft, wish.credentials, wish.told.user, wish.data_source.lower())
    cloud_init.add(draft, _cloud_init(wish, needs))
    return _written(wish, draft)


def _cloud_init(wish: Wish, needs: credentials.Consequences) -> CloudInit:
    manages = wish.agent_manages_ssh
    given = wish.told
    return CloudInit(
        source=wish.data_source or needs.data_source or given.source,
        is_wanted=bool(wish.data_source or needs.data_source),
        user=given.user,
        password=given.password,
        ssh_keys=given.ssh_keys,
        agent_manages_ssh=needs.agent_manages_ssh if manages is None else manages,
        user_data=given.user_data,
        network_data=given.network_data,
    )


def _written(wish: Wish, draft: Draft) -> Json:
    instancetype = _matcher(wish.instancetype, _INSTANCETYPES, "instancetype", draft)
    if wish.memory and not wish.instancetype.is_explicit and not wish.instancetype.name:
        instancetype = {}
    preference = _matcher(wish.preference, _PREFERENCES, "preference", draft)
    template: Json = {
        "accessCredentials": draft.credentials,
        "domain": _domain(wish, draft, has_size=_is_certain(instancetype)),
        "terminationGracePeriodSeconds": wish.grace_period_s,
        "volumes": draft.volumes,
    }
    spec: Json = {
        "dataVolumeTemplates": draft.templates,
        "instancetype": instancetype,
        "preference": preference,
        "runStrategy": wish.run_strategy,
        "template": {"spec": _without_nothing(template)},
    }
    place = {"namespace": wish.namespace} if wish.namespace else {}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": wish.name, **place},
        "spec": _without_nothing(spec),
    }


def _domain(wish: Wish, draft: Draft, *, has_size: bool) -> Json:
    devices = {"disks": draft.disks} if draft.disks else {}
    if has_size:
        return {"devices": devices}
    memory = quantity("memory", wish.memory or MEMORY)
    return {"devices": devices, "memory": {"guest": memory}}


def _is_certain(matcher: Json) -> bool:
    return bool(matcher) and "inferFromVolumeFailurePolicy" not in matcher


def _matcher(wish: Inference, kinds: tuple[str, ...], flag: str, draft: Draft) -> Json:
    if wish.name:
        return prefixed(flag, wish.name, kinds)
    if not wish.is_on:
        return {}
    volume = wish.volume or draft.first
    if trouble := _cannot_tell(volume, draft):
        if wish.is_explicit:
            raise UserError(f"the {flag} cannot be inferred: {trouble}", reason="Usage")
        return {}
    ignoring = {} if wish.is_explicit else {"inferFromVolumeFailurePolicy": "Ignore"}
    return {"inferFromVolume": volume, **ignoring}


def _cannot_tell(name: str, draft: Draft) -> str:
    """Why nothing can be inferred from a volume; empty if it can."""
    if not name:
        return "the machine has no volume"
    volume = draft.volume(name)
    if volume is None:
        return f"there is no volume with name {name!r}"
    if "persistentVolumeClaim" in volume:
        return ""
    template = next((each for each in draft.templates if each["metadata"]["name"] == name), None)
    if template is None:
        return f"the volume {name} is no claim, data volume or data source"
    spec = template["spec"]
    if "sourceRef" in spec or any(each in spec["source"] for each in _TELLING):
        return ""
    return f"the volume {name} is filled from a source that says nothing of it"


def _without_nothing(values: Json) -> Json:
    return {key: value for key, value in values.items() if value not in ([], {}, "")}
