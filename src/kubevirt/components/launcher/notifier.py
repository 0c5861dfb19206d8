"""The notifier: what the handler is to know, in order, without ever making the guest wait for it.

A handler may be away for minutes, while it is upgraded or the node is in trouble. Reports of the domain
are states, so of those that were not sent yet only the newest counts; events for people are kept, up to a
number. So memory is bounded, and a handler that comes back hears the state of now, not the story.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable
from typing import Final, NoReturn, Protocol

import msgspec

from kubevirt.base.clock import Clock
from kubevirt.base.errors import UserError
from kubevirt.base.log import get_logger
from kubevirt.rpc import reports
from kubevirt.rpc.errors import NoAnswer

log = get_logger(__name__)

EVENT_LIMIT: Final = 64
"""Events that wait; beyond it the oldest are dropped."""
FIRST_DELAY_S: Final = 0.05
LONGEST_DELAY_S: Final = 2.0


class Handler(Protocol):
    """Who is told; `rpc.notify.Handler` is one."""

    def domain_event(self, kind: str, domain: bytes, status: bytes = b"") -> Awaitable[None]: ...

    def kubernetes_event(self, event: bytes) -> Awaitable[None]: ...


class _State(msgspec.Struct, frozen=True):
    kind: str
    domain: bytes


class _Event(msgspec.Struct, frozen=True):
    event: bytes


class Notifier:
    """A queue with one sender, `run`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: deque[_State | _Event] = deque()
        self._changed = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._latest: bytes | None = None

    def report(self, domain: reports.Domain) -> None:
        """The domain as it is now. Saying the same twice costs nothing."""
        state = reports.encoded(domain)
        if state == self._latest:
            return
        kind = reports.ADDED if self._latest is None else reports.MODIFIED
        self._latest = state
        unsent = self._unsent_state()
        if unsent:
            self._replace(unsent, _State(unsent.kind, state))
        else:
            self._add(_State(kind, state))

    def gone(self, domain: reports.Domain) -> None:
        """The last report: there is no domain any more. A change that was not sent yet is left out."""
        unsent = self._unsent_state()
        if unsent and unsent.kind == reports.MODIFIED:
            self._waiting.remove(unsent)
        self._add(_State(reports.DELETED, reports.encoded(domain)))

    def event(self, event: bytes) -> None:
        """An event of Kubernetes, for people."""
        events = [each for each in self._waiting if isinstance(each, _Event)]
        if len(events) >= EVENT_LIMIT:
            self._waiting.remove(events[0])
            log.warning("an event is dropped: the handler has been away for too long")
        self._add(_Event(event))

    async def told_everything(self) -> None:
        """Returns when the handler has confirmed all there is."""
        await self._idle.wait()

    async def run(self, handler: Handler) -> NoReturn:
        """Sends for ever. A handler that refuses a message will not like it better the second time."""
        delay_s = FIRST_DELAY_S
        while True:
            message = await self._next()
            try:
                await _send(handler, message)
            except NoAnswer as error:
                log.debug("the handler does not answer", reason=str(error))
                self._put_back(message)
                await self._clock.sleep(delay_s)
                delay_s = min(2 * delay_s, LONGEST_DELAY_S)
                continue
            except UserError as error:
                log.warning("the handler refuses what it is told", error=error)
            delay_s = FIRST_DELAY_S

    async def _next(self) -> _State | _Event:
        while not self._waiting:
            self._idle.set()
            self._changed.clear()
            await self._changed.wait()
        return self._waiting.popleft()

    def _put_back(self, message: _State | _Event) -> None:
        """A state that was overtaken while it was on its way gives up its place to the newer one."""
        newer = self._unsent_state()
        if not isinstance(message, _State) or newer is None or newer.kind == reports.DELETED:
            self._waiting.appendleft(message)
        else:
            self._replace(newer, _State(message.kind, newer.domain))

    def _unsent_state(self) -> _State | None:
        return next((each for each in self._waiting if isinstance(each, _State)), None)

    def _replace(self, old: _State, new: _State) -> None:
        self._waiting[self._waiting.index(old)] = new

    def _add(self, message: _State | _Event) -> None:
        self._waiting.append(message)
        self._idle.clear()
        self._changed.set()


async def _send(handler: Handler, message: _State | _Event) -> None:
    match message:
        case _State(kind=kind, domain=domain):
            await handler.domain_event(kind, domain)
        case _Event(event=event):
            await handler.kubernetes_event(event)
