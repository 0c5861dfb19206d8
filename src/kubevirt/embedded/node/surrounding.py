"""What stands around the containers of a pod: volumes and network, made before them and removed after."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from kubevirt.api.core.pod import Pod
from kubevirt.base.errors import KubevirtError
from kubevirt.base.log import get_logger
from kubevirt.embedded.node import happenings
from kubevirt.embedded.node.happenings import Happening
from kubevirt.embedded.node.memory import PodMemory
from kubevirt.embedded.node.neighbours import NoImageForVolume, NotNow
from kubevirt.embedded.node.parts import Parts

log = get_logger(__name__)

_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 15.0


async def prepare_volumes(
    pod: Callable[[], Pod],
    memory: PodMemory,
    parts: Parts,
    news: asyncio.Event,
    changed: Callable[[], None],
) -> None:
    """Until it is done. `pod` as it is now, whenever it is asked. `news`: something came that it may
    have waited for. `changed` is called when there is more to tell of it.
    """

    async def prepare() -> None:
        await parts.neighbours.volumes.prepare(pod())

    def told(error: NotNow) -> Happening | None:
        if isinstance(error, NoImageForVolume):
            memory.wait_for_image(pod(), error, parts.clock.now())
            changed()
            return None  # it follows from the status, as for any image
        return Happening(reason=error.reason, message=error.message, is_warning=True)

    await _persistently(prepare, told, pod, parts, news)
    if not memory.state.has_volumes:
        memory.setbacks.clear()  # they waited for a volume: no container was tried yet
    memory.remember(has_volumes=True)


async def set_up_network(pod: Callable[[], Pod], memory: PodMemory, parts: Parts) -> None:
    async def set_up() -> None:
        memory.remember(network=await parts.neighbours.network.set_up(pod()))

    def told(error: NotNow) -> Happening:
        return happenings.network_failed(error.message)

    await _persistently(set_up, told, pod, parts)


async def tear_down(pod: Callable[[], Pod], memory: PodMemory, parts: Parts) -> None:
    uid, near = memory.folder.uid, parts.neighbours

    async def remove() -> None:
        await near.network.tear_down(uid)
        await near.volumes.tear_down(uid)
        near.devices.free(uid)
        near.groups.remove(uid)

    def told(error: NotNow) -> Happening:
        return Happening(reason="FailedKillPod", message=error.message, is_warning=True)

    await _persistently(remove, told, pod, parts)
    memory.remember(is_torn_down=True, network=None, has_volumes=False)


async def _persistently(
    work: Callable[[], Awaitable[None]],
    told: Callable[[NotNow], Happening | None],
    pod: Callable[[], Pod],
    parts: Parts,
    news: asyncio.Event | None = None,
) -> None:
    """Again and again, telling users why it does not work yet."""
    wait_s = _FIRST_WAIT_S
    while True:
        try:
            return await work()
        except NotNow as error:
            _tell(parts, pod(), told(error))
        except (KubevirtError, OSError) as error:
            _tell(parts, pod(), told(NotNow("FailedSync", str(error))))
        except Exception:  # a bug must not leave a pod alone
            log.exception("work for a pod failed", pod=pod().metadata.name)
        with suppress(TimeoutError):
            async with parts.clock.timeout(wait_s):
                await (news or asyncio.Event()).wait()
        if news:
            news.clear()
        wait_s = min(wait_s * 2, _LONGEST_WAIT_S)


def _tell(parts: Parts, pod: Pod, happening: Happening | None) -> None:
    if happening is not None:
        parts.tell(pod, happening)
