"""The calls of `subresources.kubevirt.io`: one table for paths, rights, discovery and OpenAPI.

The right to a call is that to its subresource, with all of its name: whoever may look at a screen may
not thereby take a picture of it.
"""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

GROUP: Final = "subresources.kubevirt.io"
VERSIONS: Final = ("v1", "v1alpha3")
"""The first one is preferred."""
PROTOCOL: Final = "plain.kubevirt.io"
"""Of its websockets: bytes as they are."""
MACHINES: Final = "virtualmachines"
INSTANCES: Final = "virtualmachineinstances"
EXPAND: Final = "expand-vm-spec"
PORT_FORWARD: Final = "portforward"

Method = Literal["GET", "PUT"]
VERBS: Final[Mapping[str, str]] = {"GET": "get", "PUT": "update"}


class Call(msgspec.Struct, frozen=True, kw_only=True):
    resource: str
    subresource: str
    method: Method
    summary: str
    is_stream: bool = False
    """A websocket, in both directions."""
    missing: str = ""
    """What it needs that nobody has built yet."""

    @property
    def name(self) -> str:
        """As discovery and roles name it."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource

    @property
    def verb(self) -> str:
        return VERBS[self.method]


def _machine(subresource: str, method: Method, summary: str, missing: str = "") -> Call:
    return Call(
        resource=MACHINES,
        subresource=subresource,
        method=method,
        summary=summary,
        is_stream=subresource == PORT_FORWARD,
        missing=missing,
    )


def _instance(
    subresource: str, method: Method, summary: str, *, is_stream: bool = False, missing: str = ""
) -> Call:
    return Call(
        resource=INSTANCES,
        subresource=subresource,
        method=method,
        summary=summary,
        is_stream=is_stream,
        missing=missing,
    )


CALLS: Final = (
    Call(resource=EXPAND, subresource="", method="PUT", summary="A machine with all it refers to."),
    _machine("start", "PUT", "Starts a machine."),
    _machine("stop", "PUT", "Stops a machine."),
    _machine("restart", "PUT", "Stops a machine and starts it again."),
    _machine("expand-spec", "GET", "The machine with all it refers to."),
    _machine(PORT_FORWARD, "GET", "A connection to a port of its guest."),
    _instance("console", "GET", "The serial console.", is_stream=True),
    _instance("vnc", "GET", "The screen.", is_stream=True),
    _instance("vnc/screenshot", "GET", "A picture of the screen, as PNG."),
    _instance(PORT_FORWARD, "GET", "A connection to a port of the guest.", is_stream=True),
    _instance("pause", "PUT", "Halts the guest's processors."),
    _instance("unpause", "PUT", "Lets them go on."),
    _instance("reset", "PUT", "Resets the guest, as its button would."),
    _instance("softreboot", "PUT", "Asks the guest to boot anew."),
    _instance("guestosinfo", "GET", "What the agent in the guest tells of its system."),
    _instance("userlist", "GET", "Who is logged in to the guest."),
    _instance("filesystemlist", "GET", "The file systems of the guest."),
    _machine("migrate", "PUT", "Moves the guest.", missing="live migration"),
    _machine("addvolume", "PUT", "Plugs a volume in.", missing="hotplug of volumes"),
    _machine("removevolume", "PUT", "Unplugs a volume.", missing="hotplug of volumes"),
    _machine("memorydump", "PUT", "Dumps the memory.", missing="memory dumps"),
    _machine("removememorydump", "PUT", "Forgets a dump.", missing="memory dumps"),
    _machine("evacuate/cancel", "PUT", "Lets it stay.", missing="live migration"),
    _machine("objectgraph", "GET", "What it refers to.", missing="object graphs"),
    _instance("addvolume", "PUT", "Plugs a volume in.", missing="hotplug of volumes"),
    _instance("removevolume", "PUT", "Unplugs a volume.", missing="hotplug of volumes"),
    _instance("freeze", "PUT", "Freezes file systems.", missing="freezing of file systems"),
    _instance("unfreeze", "PUT", "Thaws file systems.", missing="freezing of file systems"),
    _instance("usbredir", "GET", "A USB device.", is_stream=True, missing="USB redirection"),
    _instance("vsock", "GET", "A vsock port.", is_stream=True, missing="connections by vsock"),
    _instance("evacuate/cancel", "PUT", "Lets it stay.", missing="live migration"),
    _instance("objectgraph", "GET", "What it refers to.", missing="object graphs"),
    _instance("backup", "PUT", "Makes a backup.", missing="backups"),
    _instance("redefine-checkpoint", "PUT", "Tells of a backup.", missing="backups"),
    _instance("sev/fetchcertchain", "GET", "Keys of SEV.", missing="encrypted guests"),
    _instance("sev/querylaunchmeasurement", "GET", "A measure.", missing="encrypted guests"),
    _instance("sev/setupsession", "PUT", "A session of SEV.", missing="encrypted guests"),
    _instance("sev/injectlaunchsecret", "PUT", "A secret.", missing="encrypted guests"),
)

BUILT: Final = tuple(each for each in CALLS if not each.missing)


def find(resource: str, subresource: str) -> Call | None:
    return next(
        (each for each in CALLS if (each.resource, each.subresource) == (resource, subresource)),
        None,
    )
