"""Talking with the handler, both ways: it calls the manager, and hears from it.

All that takes gRPC is behind this module, and that is most of what a manager imports. So `managing.py` imports it
late.
"""

import asyncio
from pathlib import Path
from typing import NoReturn

from kubevirt.base.tasks import background
from kubevirt.components.launcher.arrival import arrival
from kubevirt.components.launcher.notifier import Notifier
from kubevirt.components.launcher.parts import Parts
from kubevirt.components.launcher.service import Service
from kubevirt.components.launcher.settings import Settings
from kubevirt.rpc import cmd, notify, serving
from kubevirt.rpc.calling import Caller


async def talk(settings: Settings, parts: Parts) -> None:
    """Until nobody wants it any more. The socket gets its name when it is listened at: whoever finds it is
    answered.
    """
    layout = settings.layout
    service = Service(parts)
    async with (
        Caller(layout.notify_socket, "virt-handler") as caller,
        background(_tell(parts.notifier, caller, layout.notify_socket)),
        serving.serving(
            layout.unready_command_socket, {cmd.SERVICE: service, cmd.INFO_SERVICE: service}
        ),
    ):
        _rename(layout.unready_command_socket, layout.command_socket)
        await asyncio.Event().wait()


async def _tell(notifier: Notifier, caller: Caller, ear: str) -> NoReturn:
    """Where there is no handler, nobody is called again and again."""
    await arrival(ear)
    await notifier.run(notify.Handler(caller))


def _rename(old: str, new: str) -> None:
    Path(old).replace(new)
