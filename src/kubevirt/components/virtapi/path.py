"""What a path asks for, of those below `/apis/subresources.kubevirt.io/VERSION/namespaces/`.

namespaces/NS/virtualmachines/NAME/start
namespaces/NS/virtualmachineinstances/NAME/portforward/8080/tcp
namespaces/NS/expand-vm-spec

A part of a path is read once, here: who is asked whether this may be and who does it see the same.
"""

from urllib.parse import unquote

import msgspec

from kubevirt.virt.commands import calls
from kubevirt.virt.commands.calls import Call
from kubevirt.virt.commands.refusal import no_such_path

MOST_ARGUMENTS = 2


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    version: str
    namespace: str
    call: Call
    name: str = ""
    arguments: tuple[str, ...] = ()
    """Port and protocol."""


def parts_of(raw_path: str) -> tuple[str, ...]:
    """Of a path as it came. None may be empty, climb, or hide a slash."""
    parts = tuple(unquote(each) for each in raw_path.removeprefix("/").split("/"))
    if any(each in ("", ".", "..") or "/" in each or "\0" in each for each in parts):
        raise no_such_path()
    return parts


def asked(version: str, below: tuple[str, ...]) -> Asked:
    """`below` is what follows the version."""
    name, arguments = "", tuple[str, ...]()
    match below:
        case ("namespaces", namespace, calls.EXPAND):
            call = calls.find(calls.EXPAND, "")
        case ("namespaces", namespace, resource, name, calls.PORT_FORWARD, *rest) if (
            len(rest) <= MOST_ARGUMENTS
        ):
            call, arguments = calls.find(resource, calls.PORT_FORWARD), tuple(rest)
        case ("namespaces", namespace, resource, name, *rest) if rest:
            call = calls.find(resource, "/".join(rest))
        case _:
            raise no_such_path()
    if call is None:
        raise no_such_path()
    return Asked(version=version, namespace=namespace, call=call, name=name, arguments=arguments)
