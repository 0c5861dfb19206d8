"""The command lines of KubeVirt's programs in a home. Nothing in them is of this home's kind: flags, files, addresses."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.apiserver.callees.callee import ClientFiles
from kubevirt.components.handler.settings import PORT

API: Final = "virt-api"
CONTROLLER: Final = "virt-controller"
HANDLER: Final = "virt-handler"
MODULES: Final = {
    API: "kubevirt.components.virtapi.main",
    CONTROLLER: "kubevirt.components.controller.main",
    HANDLER: "kubevirt.components.handler.main",
}
KUBECONFIG: Final = "--kubeconfig"


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What all of them are told."""

    kubeconfig: Path
    """Who it is, and where the API server is."""
    address: str
    port: int
    """Where it tells how it is; virt-api does all its work there."""
    shown: ClientFiles
    """Its certificate at that port."""
    authority: Path
    """Who has signed for everybody here."""

    @property
    def flags(self) -> list[str]:
        return [
            *(KUBECONFIG, str(self.kubeconfig)),
            *("--listen", self.address, "--port", str(self.port)),
            *("--tls-cert-file", self.shown.certificate, "--tls-key-file", self.shown.key),
        ]


def virt_api(standing: Standing, calling: ClientFiles) -> list[str]:
    """`calling` is what it shows to virt-handlers."""
    return [
        *standing.flags,
        *("--console-server-port", str(PORT)),
        *("--handler-ca-file", str(standing.authority)),
        *("--handler-cert-file", calling.certificate, "--handler-key-file", calling.key),
    ]


def virt_controller(standing: Standing, launcher_image: str) -> list[str]:
    return [*standing.flags, "--launcher-image", launcher_image]


def virt_handler(standing: Standing, node: str, kubelet: Path, records: Path) -> list[str]:
    return [
        *standing.flags,
        *("--hostname-override", node),
        *("--kubelet-root", str(kubelet), "--device-plugin-dir", str(kubelet / "device-plugins")),
        *("--state-dir", str(records)),
        *("--console-server-port", str(PORT), "--console-client-ca-file", str(standing.authority)),
        *("--console-cert-file", standing.shown.certificate),
        *("--console-key-file", standing.shown.key),
    ]


def program(name: str, interpreter: Path | None = None) -> list[str]:
    """The one that was installed with this Python. Where nobody installed it, in a checkout that has changed
    since, the same by its module.
    """
    interpreter = interpreter or Path(sys.executable)
    installed = interpreter.with_name(name)
    return [str(installed)] if installed.is_file() else [str(interpreter), "-m", MODULES[name]]


def is_program(words: Sequence[str], kubeconfig: str) -> bool:
    """Whether a process with these words is one that was started here with this kubeconfig, or is about to be:
    what starts it has the same words behind its own.
    """
    for at in range(1, len(words) - 1):
        if words[at] == KUBECONFIG and words[at + 1] == kubeconfig:
            return words[at - 1] in MODULES.values() or Path(words[at - 1]).name in MODULES
    return False
