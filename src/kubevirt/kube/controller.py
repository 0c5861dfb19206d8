"""Controller: workers that bring one key after the other into its desired state.

    vms = Controller("vm", reconcile, clock=clock)
    vms.watch(vm_informer, own)
    vms.watch(vmi_informer, owner_in(vm_informer))
    await vms.run()

`reconcile(key)` reads the caches, decides, acts, and says what comes next. It starts only when every
watched cache is complete, and never runs twice at once for one key (`queue.py`). How it ends:

    returns DONE          nothing more to do until something changes
    returns After(s)      again in s seconds, whatever happens
    raises Retry          again after a growing wait, at least `after_s`
    raises UserError      not again: `on_user_error` tells the user, who must change something
    raises Refused        both: the user is told, and it is tried again, since somebody else may
                          change what the server allows (a quota, a role, a webhook)
    raises LeadershipLost the controller ends with it: this process may not act any more
    anything else         a bug: its stack trace is logged once, and it is tried again like Retry
"""

import asyncio
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from kubevirt.base.clock import Clock
from kubevirt.base.errors import ConfigError, Retry, UserError
from kubevirt.base.log import get_logger
from kubevirt.kube.cache.store import Cacheable, Change
from kubevirt.kube.errors import Refused
from kubevirt.kube.leader import LeadershipLost
from kubevirt.kube.queue import QueueClosed, WorkQueue

K = TypeVar("K", bound=Hashable)
T = TypeVar("T", bound=Cacheable)

log = get_logger(__name__)

LOUD_AFTER = 10
"""Retries are normal and silent; so many in a row are worth a line (about 5 s with the defaults)."""

_OUT_OF_THE_USERS_HANDS = (Refused, ConfigError)
"""What a server does not allow, or how it is reached, changes without a change of the object."""


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing more to do until something changes."""


@dataclass(frozen=True, slots=True)
class After:
    """Look again in so many seconds, even if nothing changes."""

    seconds: float


Result = Done | After
DONE = Done()

Reconcile = Callable[[K], Awaitable[Result]]
OnUserError = Callable[[K, UserError], Awaitable[None]]


class TookTooLong(Retry):
    """A reconcile was stopped at its time limit."""


class ControllerSettings(Struct, frozen=True, kw_only=True):
    workers: int = 3
    """Keys that are handled at the same time. Workers mostly wait for the server, so more of them
    help where each key costs several calls."""
    time_limit_s: float = 300.0
    """Seconds that one reconcile may take. Generous: it only ends what would hang forever, since
    every call of the client has a limit of its own."""


class Synced(Protocol):
    async def wait_synced(self) -> None: ...


class Watched(Synced, Protocol[T]):
    """An informer, as far as a controller knows it."""

    def add_handler(self, handler: Callable[[Change[T]], None]) -> object: ...


class Controller(Generic[K]):
    def __init__(
        self,
        name: str,
        reconcile: Reconcile[K],
        *,
        clock: Clock,
        queue: WorkQueue[K] | None = None,
        settings: ControllerSettings | None = None,
        wait_for: Iterable[Synced] = (),
        on_user_error: OnUserError[K] | None = None,
        before_each: Callable[[], None] = lambda: None,
    ) -> None:
        """`queue` is one of its own unless given. `wait_for` are caches that `reconcile` reads but
        that trigger nothing. `before_each` may raise LeadershipLost: pass the elector's
        `assert_leader`, so that a process that was paused does not act on what it believed before.
        """
        self.name = name
        self.queue = queue if queue is not None else WorkQueue(name, clock)
        self.outcomes: Counter[str] = Counter()
        """How often a reconcile ended how: done, after, retry, user_error, bug."""
        self._reconcile = reconcile
        self._clock = clock
        self._settings = settings or ControllerSettings()
        self._caches = list(wait_for)
        self._on_user_error = on_user_error
        self._before_each = before_each
        self._bugs: dict[K, str] = {}
        self._log = log.bind(controller=name)

    def watch(
        self,
        informer: Watched[T],
        trigger: Callable[[Change[T]], Iterable[K]],
        *,
        when_changed: Callable[[T], object] | None = None,
    ) -> None:
        """Adds the keys that `trigger` names for each change (see `triggers.py`), and waits for this
        cache in `run`. With `when_changed`, an update that leaves that part of the object as it was
        triggers nothing.
        """
        self._caches.append(informer)
        add = self.queue.add

        def handle(change: Change[T]) -> None:
            if when_changed is None or _is_changed(change, when_changed):
                for key in trigger(change):
                    add(key)

        informer.add_handler(handle)

    async def run(self) -> None:
        """Works until cancelled, or until the queue is closed and empty."""
        async with asyncio.TaskGroup() as group:
            for cache in self._caches:
                group.create_task(cache.wait_synced())
        self._log.info("controller starts", workers=self._settings.workers)
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(self._settings.workers):
                    group.create_task(self._work(), name=f"{self.name}-{number}")
        except BaseExceptionGroup as errors:
            lost = next((error for error in _leaves(errors) if _is_lost(error)), None)
            if lost is None:
                raise
            raise lost from None

    async def _work(self) -> None:
        while True:
            try:
                key = await self.queue.get()
            except QueueClosed:
                return
            try:
                await self._handle(key)
            finally:
                self.queue.done(key)
            # A reconcile that finds nothing to do never waits, and after a start there are thousands.
            # Others on this loop, such as whoever renews the leader's lease, must have their turn.
            await asyncio.sleep(0)

    async def _handle(self, key: K) -> None:
        try:
            self._before_each()
            result = await self._in_time(key)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Nobody cancelled this worker: something inside was, and nobody expected it. It must not
            # end the worker in silence.
            self._hit_a_bug(key, error)
        except Exception as error:  # noqa: BLE001  # every one of them has its place below
            await self._fail(key, _meaning(error))
        else:
            self._succeed(key, result)

    async def _in_time(self, key: K) -> Result:
        limit = self._clock.timeout(self._settings.time_limit_s)
        try:
            async with limit:
                return await self._reconcile(key)
        except TimeoutError:
            if not limit.expired():
                raise
            raise TookTooLong(
                f"reconciling {key} took longer than {self._settings.time_limit_s:g} s"
            ) from None

    def _succeed(self, key: K, result: Result) -> None:
        self.queue.forget(key)
        self._bugs.pop(key, None)
        if isinstance(result, After):
            self.outcomes["after"] += 1
            self.queue.add_after(key, result.seconds)
        else:
            self.outcomes["done"] += 1

    async def _fail(self, key: K, error: Exception) -> None:
        if _is_lost(error):
            self.queue.retry(key)  # for whoever leads next in this process
            raise error
        if isinstance(error, UserError):
            await self._tell_user(key, error)
        elif isinstance(error, Retry):
            self._try_again(key, error)
        else:
            self._hit_a_bug(key, error)

    def _try_again(self, key: K, error: Retry) -> None:
        self.outcomes["retry"] += 1
        self.queue.retry(key, at_least_s=error.after_s)
        is_stubborn = self.queue.failures(key) == LOUD_AFTER
        write = (
            self._log.warning if is_stubborn or isinstance(error, TookTooLong) else self._log.debug
        )
        write("reconcile will be tried again", key=str(key), reason=str(error))

    async def _tell_user(self, key: K, error: UserError) -> None:
        self.outcomes["user_error"] += 1
        if isinstance(error, _OUT_OF_THE_USERS_HANDS):
            self.queue.retry(key)
        else:
            self.queue.forget(key)
        self._log.info("only the user can help", key=str(key), reason=str(error))
        if self._on_user_error is None:
            return
        try:
            async with self._clock.timeout(self._settings.time_limit_s):
                await self._on_user_error(key, error)
        except UserError as refused:
            self._log.warning("the user cannot be told", key=str(key), reason=str(refused))
        except Exception as failure:  # noqa: BLE001  # telling is part of the work: it is retried alike
            await self._fail(key, _meaning(failure))

    def _hit_a_bug(self, key: K, error: BaseException) -> None:
        self.outcomes["bug"] += 1
        self.queue.retry(key)
        fingerprint = _fingerprint(error)
        if self._bugs.get(key) == fingerprint:
            self._log.error(
                "reconcile failed the same way again",
                key=str(key),
                reason=repr(error),
                failures=self.queue.failures(key),
            )
            return
        self._bugs[key] = fingerprint
        self._log.error("reconcile failed", key=str(key), error=error)


def _is_changed(change: Change[T], part: Callable[[T], object]) -> bool:
    old, new = change.old, change.new
    return old is None or new is None or part(old) != part(new)


def _meaning(error: Exception) -> Exception:
    """What a group of errors amounts to: a reconcile that did several things at once may fail in
    several ways. The most serious one counts.
    """
    if not isinstance(error, ExceptionGroup):
        return error
    leaves = list(_leaves(error))
    if lost := [leaf for leaf in leaves if _is_lost(leaf)]:
        return lost[0]
    if any(not isinstance(leaf, UserError | Retry) for leaf in leaves):
        return error
    if retries := [leaf for leaf in leaves if isinstance(leaf, Retry)]:
        return max(retries, key=lambda leaf: leaf.after_s)
    return leaves[0]


def _leaves(error: BaseException) -> Iterator[Exception]:
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _leaves(each)
    elif isinstance(error, Exception):
        yield error


def _is_lost(error: Exception) -> bool:
    return isinstance(error, LeadershipLost)


def _fingerprint(error: BaseException) -> str:
    """The same for two errors that came from the same place."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__qualname__} {place}"
