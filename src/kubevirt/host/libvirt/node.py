"""What this machine's hypervisor offers: versions, machine types, CPU models.

Asked by the node's side, seldom: libvirt asks every QEMU that is installed, which takes a second when
it does so for the first time.
"""

from msgspec import Struct, field

from kubevirt.host.libvirt.connection import Caller
from kubevirt.virt.domain.xml.element import Attr, Element, Text, YesNo
from kubevirt.virt.domain.xml.reading import from_xml

PROBING_LIMIT_S = 60.0


class Versions(Struct, frozen=True, kw_only=True):
    libvirt: str
    """Of the daemon."""
    qemu: str


class Offers(Struct, frozen=True, kw_only=True):
    """For guests of one architecture, with or without hardware acceleration."""

    machine_types: tuple[str, ...]
    """Aliases included: q35 and pc-q35-7.2."""
    cpu_models: tuple[str, ...]
    """Named models that can run here."""
    host_model: str | None
    """What `host-model` stands for here; None where there is no such thing."""


async def versions(caller: Caller) -> Versions:
    libvirt, qemu = await caller.call(
        "ask for versions", lambda it: (it.getLibVersion(), it.getVersion()), repeatable=True
    )
    return Versions(libvirt=_dotted(libvirt), qemu=_dotted(qemu))


async def offers(caller: Caller, *, architecture: str, kvm: bool) -> Offers:
    text = await caller.call(
        "ask what QEMU offers", lambda it: it.getCapabilities(), limit_s=PROBING_LIMIT_S
    )
    machines = _machine_types(from_xml(text, _Capabilities, "capabilities"), architecture)
    virt_type = "kvm" if kvm else "qemu"
    text = await caller.call(
        f"ask what QEMU offers for {architecture}",
        lambda it: it.getDomainCapabilities(None, architecture, None, virt_type, 0),
        limit_s=PROBING_LIMIT_S,
    )
    cpu = from_xml(text, _DomainCapabilities, "domainCapabilities").cpu
    modes = {each.name: each for each in cpu.modes if each.supported}
    custom, host_model = modes.get("custom"), modes.get("host-model")
    return Offers(
        machine_types=machines,
        cpu_models=tuple(each.name for each in custom.models if each.usable) if custom else (),
        host_model=host_model.models[0].name if host_model and host_model.models else None,
    )


def _machine_types(capabilities: "_Capabilities", architecture: str) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            name
            for guest in capabilities.guests
            if guest.arch.name == architecture
            for machine in guest.arch.machines
            for name in (machine.name, machine.canonical)
            if name
        )
    )


def _dotted(number: int) -> str:
    return f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"


class _MachineType(Element, frozen=True, kw_only=True):
    canonical: Attr[str | None] = None
    name: Text[str]


class _Arch(Element, frozen=True, kw_only=True):
    name: Attr[str]
    machines: tuple[_MachineType, ...] = field(default=(), name="machine")


class _Guest(Element, frozen=True, kw_only=True):
    arch: _Arch


class _Capabilities(Element, frozen=True, kw_only=True):
    guests: tuple[_Guest, ...] = field(default=(), name="guest")


class _CpuModel(Element, frozen=True, kw_only=True):
    usable: YesNo = None
    name: Text[str]


class _CpuMode(Element, frozen=True, kw_only=True):
    name: Attr[str]
    supported: YesNo = None
    models: tuple[_CpuModel, ...] = field(default=(), name="model")


class _Cpu(Element, frozen=True, kw_only=True):
    modes: tuple[_CpuMode, ...] = field(default=(), name="mode")


class _DomainCapabilities(Element, frozen=True, kw_only=True):
    cpu: _Cpu = _Cpu()
