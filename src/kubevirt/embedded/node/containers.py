"""A container of a pod as the runtime runs it: what the pod says, what its image says, and the node's part."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

import msgspec

from kubevirt.api.core.container import Container
from kubevirt.embedded.node import environment, termination
from kubevirt.embedded.node.neighbours import Allocated, Image, NotNow
from kubevirt.embedded.node.users import User
from kubevirt.embedded.runtime import container as runtime
from kubevirt.embedded.runtime.container import Mount

PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """All that a container is given beside what its pod and its image say."""

    image: Image
    user: User
    variables: Mapping[str, str] = {}
    """Of the pod."""
    mounts: Sequence[Mount] = ()
    """Of the pod's volumes, outer ones first."""
    files: Mapping[str, str] = {}
    """Of the node: where a container sees them, and where they are. A volume in their place goes before."""
    message_file: str = ""
    """Where its termination message goes."""
    devices: Allocated = Allocated()
    hostname: str = ""
    network: str = ""
    cgroups: Sequence[str] = ()


def assembled(container: Container, given: Surroundings) -> runtime.Container:
    own = container.security_context
    return runtime.Container(
        command=_command(container, given),
        environment=_environment(given),
        folder=container.working_dir or given.image.config.folder or "/",
        rights=given.user.rights,
        root=str(given.image.root) if given.image.root else "",
        is_root_read_only=bool(own and own.read_only_root_filesystem),
        mounts=tuple(_mounts(container, given)),
        hostname=given.hostname,
        network=given.network,
        cgroups=tuple(given.cgroups),
        has_input=bool(container.stdin and not container.tty),
    )


def _command(container: Container, given: Surroundings) -> tuple[str, ...]:
    """An image's own arguments are for its own entry point."""
    program, arguments = environment.command(container, given.variables)
    config = given.image.config
    if not program:
        program = list(config.entrypoint)
        arguments = arguments or list(config.command)
    if not program and not arguments:
        raise NotNow("CreateContainerError", "no command specified")
    return (*program, *arguments)


def _environment(given: Surroundings) -> dict[str, str]:
    """Later ones go before: what the runtime tells, the image, device plugins, the pod."""
    of_image = dict(each.partition("=")[::2] for each in given.image.config.environment)
    told = {"PATH": PATH, "HOME": given.user.home, "HOSTNAME": given.hostname}
    return {**told, **of_image, **given.devices.environment, **given.variables}


def _mounts(container: Container, given: Surroundings) -> Iterator[Mount]:
    yield from given.image.mounts
    taken = {str(PurePosixPath(each.target)) for each in given.mounts}
    for target, source in given.files.items():
        if target not in taken:
            yield Mount(source=source, target=target)
    yield from given.mounts
    yield from given.devices.mounts
    target = container.termination_message_path or termination.PATH
    if given.message_file and target not in taken:
        yield Mount(source=given.message_file, target=target)
