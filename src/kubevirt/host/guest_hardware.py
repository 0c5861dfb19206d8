"""What QEMU can be for a guest on this machine: the boards, the models of its processor, the features that it can show.

A QEMU without a machine is asked, as libvirt does. Names are QEMU's, with all the spellings that it understands; libvirt's are
among them.

    found = await guest_hardware()        # with KVM
"""

import re
from typing import Any, Final

import msgspec

from kubevirt.base.commands import run
from kubevirt.base.errors import ConfigError
from kubevirt.host.kvm import EMULATOR

LIMIT_S: Final = 10.0
OWN: Final = "host"
"""The model that shows everything that the processor has."""
_NO_MODELS: Final = frozenset({"base", "host", "max"})
_NONE: Final = "none"
"""The machine that is asked."""
_VERSION: Final = re.compile(r"-v\d+")
_INNER: Final = "x-"
"""Begins switches of QEMU's own."""


class GuestHardware(msgspec.Struct, frozen=True, kw_only=True):
    machines: frozenset[str]
    """Types of boards, also by their short names."""
    models: frozenset[str]
    features: frozenset[str]


class _Machine(msgspec.Struct, frozen=True):
    name: str
    alias: str = ""


class _Definition(msgspec.Struct, frozen=True):
    name: str
    unavailable: list[str] = msgspec.field(name="unavailable-features", default_factory=list)


async def guest_hardware(
    *, emulator: str = EMULATOR, accelerator: str = "kvm", widest: str = OWN
) -> GuestHardware:
    """Raises if it cannot be asked. `widest` is the model that has everything: without KVM that is `max`."""
    # What cannot be moved to another machine is a feature, too.
    everything = {"name": widest, "props": {"migratable": False}}
    questions = (
        {"execute": "qmp_capabilities"},
        {"execute": "query-machines", "id": "machines"},
        {"execute": "query-cpu-definitions", "id": "models"},
        {
            "execute": "query-cpu-model-expansion",
            "arguments": {"type": "full", "model": everything},
            "id": "features",
        },
        {"execute": "quit"},
    )
    done = await run(
        emulator,
        *("-no-user-config", "-nodefaults", "-display", "none", "-machine", "none"),
        *("-accel", accelerator, "-qmp", "stdio"),
        stdin=b"\n".join(map(msgspec.json.encode, questions)),
        timeout_s=LIMIT_S,
    )
    answers = _answers(done.stdout)
    return GuestHardware(
        machines=_machines(answers["machines"]),
        models=_models(answers["models"]),
        features=_features(answers["features"]),
    )


def _answers(said: bytes) -> dict[str, Any]:
    lines = [msgspec.json.decode(each) for each in said.splitlines() if each.strip()]
    found = {each["id"]: each["return"] for each in lines if "id" in each and "return" in each}
    if missing := {"machines", "models", "features"} - found.keys():
        reasons = [each["error"].get("desc", "") for each in lines if "error" in each]
        raise ConfigError(
            f"QEMU does not tell the {' and '.join(sorted(missing))} of guests' hardware: "
            f"{'; '.join(reasons) or 'it ended without an answer'}; see whether it fits this machine"
        )
    return found


def _machines(boards: Any) -> frozenset[str]:
    known = msgspec.convert(boards, list[_Machine])
    return frozenset(name for each in known for name in (each.name, each.alias) if name) - {_NONE}


def _models(definitions: Any) -> frozenset[str]:
    """Those that lack nothing here. A version of a model is QEMU's business: libvirt has no name for it."""
    return frozenset(
        each.name
        for each in msgspec.convert(definitions, list[_Definition])
        if not each.unavailable
        and each.name not in _NO_MODELS
        and not _VERSION.fullmatch(each.name[each.name.rfind("-") :])
    )


def _features(expansion: Any) -> frozenset[str]:
    props = msgspec.convert(expansion["model"]["props"], dict[str, Any])
    return frozenset(
        name for name, value in props.items() if value is True and not name.startswith(_INNER)
    )
