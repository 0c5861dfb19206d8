"""Leader election on a Lease: of many processes, one acts.

    elector = LeaderElector(client, namespace="kubevirt", name="virt-controller", identity=pod_name,
                            clock=clock)
    await elector.run(lead)      # waits, then runs lead() for as long as this process leads

It follows client-go's protocol and shares a Lease with its holders. A holder renews its Lease every
`retry_period_s`; a candidate that sees no renewal for the Lease's duration takes it. Both measure on
their own monotonic clock from when they saw something happen, so clocks that differ do no harm; the
timestamps in the Lease are for people.

What `run` promises: when leadership is lost, `lead()` has been cancelled and has ended before
`LeadershipLost` comes out. When `lead()` ends by itself or `run` is cancelled, the Lease is renewed
until `lead()` has ended, then given back, so that the next holder need not wait.

What no election can promise: a process that was stopped (SIGSTOP, a paused machine) and wakes up after
its Lease expired finds its tasks where they were. `is_leader` is computed from the time of the last
renewal, so it is false from the first instruction on; `assert_leader()` stands before whatever must
not be done by two.
"""

import random
from collections.abc import Awaitable, Callable
from datetime import datetime
from math import inf
from typing import NoReturn, Protocol, TypeVar

from msgspec import Struct

from kubevirt.api.core.lease import Lease, LeaseSpec
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.resource import Resource
from kubevirt.api.scheme import LEASES
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import background
from kubevirt.kube.errors import Conflict, NotFound
from kubevirt.kube.patches import MergePatch

T = TypeVar("T")

log = get_logger(__name__)


class LeadershipLost(KubevirtError):  # noqa: N818  # what happened; nothing is wrong with the program
    """Somebody else leads now, or may: the Lease could not be renewed in time."""


class ElectionSettings(Struct, frozen=True, kw_only=True):
    """client-go's defaults, which every Kubernetes administrator knows."""

    lease_duration_s: int = 15
    """How long others wait after the last renewal they saw. Whole seconds: the API has no others."""
    renew_deadline_s: float = 10.0
    """How long a holder tries to renew before it gives up; shorter than the lease by what `lead()`
    may need to end."""
    retry_period_s: float = 2.0
    """Between two tries, of holders and candidates."""
    jitter: float = 1.2
    """Candidates wait up to this part longer, so that they do not all ask at once."""

    def __post_init__(self) -> None:
        if (
            not self.lease_duration_s
            > self.renew_deadline_s
            > self.retry_period_s * self.jitter
            > 0
        ):
            raise ValueError(
                "an election needs lease_duration_s > renew_deadline_s > retry_period_s * jitter > 0,"
                f" not {self.lease_duration_s}, {self.renew_deadline_s}, {self.retry_period_s}"
            )


class LeaseClient(Protocol):
    """What an elector needs of a client."""

    async def get(self, resource: Resource[T], name: str, namespace: str | None = None) -> T: ...
    async def create(self, resource: Resource[T], obj: T, namespace: str | None = None) -> T: ...
    async def patch(
        self, resource: Resource[T], name: str, patch: MergePatch, namespace: str | None = None
    ) -> T: ...


class LeaderElector:
    def __init__(
        self,
        client: LeaseClient,
        *,
        namespace: str,
        name: str,
        identity: str,
        clock: Clock,
        settings: ElectionSettings | None = None,
        randomness: random.Random | None = None,
    ) -> None:
        """`identity` must be this process's alone: a name with a random part."""
        self.identity = identity
        self._client = client
        self._namespace = namespace
        self._name = name
        self._clock = clock
        self._settings = settings or ElectionSettings()
        self._random = randomness or random.Random()  # noqa: S311  # spreads load, hides nothing
        self._lease: Lease | None = None
        self._changed_at = -inf  # a change of the Lease was seen: candidates count from here
        self._renewed_at = -inf  # the last renewal was sent: a holder counts from here
        self._log = log.bind(lease=f"{namespace}/{name}", identity=identity)

    @property
    def leader(self) -> str:
        """Who held the Lease when it was last seen; empty if nobody."""
        return (self._lease.spec.holder_identity or "") if self._lease else ""

    @property
    def is_leader(self) -> bool:
        """Whether this process leads at this moment, whatever it was doing in the last one."""
        return self._left_s > 0

    def assert_leader(self) -> None:
        """Raises LeadershipLost unless this process leads at this moment."""
        if not self.is_leader:
            raise LeadershipLost(
                f"{self.identity} does not hold the lease {self._namespace}/{self._name}"
            )

    async def run(self, lead: Callable[[], Awaitable[T]]) -> T:
        """Waits to become leader, then runs `lead()` to its end. Raises LeadershipLost after it was
        stopped early.
        """
        await self._acquire()
        self._log.info("leads")
        try:
            async with background(self._keep()):
                # Cancelling `run` cancels `lead()` first; the renewing goes on until it has ended.
                return await lead()
        except BaseExceptionGroup as errors:
            # `lead()` failed while it was being stopped. That leadership was lost is the news.
            if errors.subgroup(LeadershipLost) is None:
                raise
            raise LeadershipLost(f"{self.identity} lost the lease, and its work failed") from errors
        finally:
            await self._release()
            self._log.info("leads no more")

    # Candidates

    async def _acquire(self) -> None:
        settings = self._settings
        while not await self._attempt(self._take):
            jitter = 1 + settings.jitter * self._random.random()
            await self._clock.sleep(settings.retry_period_s * jitter)

    async def _take(self) -> bool:
        """Takes the Lease if it is free."""
        now = self._clock.monotonic()
        try:
            self._saw(await self._client.get(LEASES, self._name, self._namespace))
        except NotFound:
            await self._create(now)
            return True
        if self._is_anothers():
            return False
        await self._patch(self._claim(), now)
        return True

    def _is_anothers(self) -> bool:
        """Held by somebody who has, as far as seen from here, not been silent for too long."""
        if self.leader in ("", self.identity):
            return False
        duration = self._spec.lease_duration_seconds or self._settings.lease_duration_s
        return self._clock.monotonic() < self._changed_at + duration

    # Holders

    async def _keep(self) -> None:
        """Renews until that fails; then raises LeadershipLost."""
        while True:
            await self._clock.sleep(self._settings.retry_period_s)
            limit_s = min(self._settings.renew_deadline_s, self._left_s)
            try:
                async with self._clock.timeout(limit_s):
                    await self._renew()
            except TimeoutError:
                self._lose(f"it could not be renewed for {limit_s:g} s")

    async def _renew(self) -> None:
        while True:
            if not self.is_leader:
                self._lose("it expired while this process was paused")
            if await self._attempt(self._extend):
                return
            await self._clock.sleep(self._settings.retry_period_s)

    @property
    def _left_s(self) -> float:
        """For how long nobody else can have taken the Lease, however late this process learns it."""
        return self._renewed_at + self._settings.lease_duration_s - self._clock.monotonic()

    async def _extend(self) -> bool:
        now = self._clock.monotonic()
        try:
            await self._patch_mine(self._claim(), now)
        except NotFound:
            await self._create(now)
        return True

    def _lose(self, why: str) -> NoReturn:
        self._renewed_at = -inf
        raise LeadershipLost(
            f"{self.identity} lost the lease {self._namespace}/{self._name}: {why}"
        )

    async def _release(self) -> None:
        """Gives the Lease back, so that the next candidate that asks gets it."""
        if not self.is_leader:
            return
        self._renewed_at = -inf
        now = _micro_time(self._clock.now())
        nobodys = LeaseSpec(
            holder_identity="",
            lease_duration_seconds=1,
            acquire_time=now,
            renew_time=now,
            lease_transitions=self._spec.lease_transitions,
        )
        try:
            async with self._clock.timeout(self._attempt_limit_s):
                await self._patch_mine(nobodys)
        except (KubevirtError, TimeoutError) as error:
            self._log.warning("lease not given back; the next holder waits", reason=str(error))

    # Both

    async def _attempt(self, step: Callable[[], Awaitable[bool]]) -> bool:
        """Whether `step` succeeded. Trouble with the server is a reason to try again, not to end."""
        try:
            async with self._clock.timeout(self._attempt_limit_s):
                return await step()
        except LeadershipLost:
            raise
        except Conflict as error:
            self._log.debug("another was faster", reason=str(error))
        except (KubevirtError, TimeoutError) as error:
            self._log.warning("lease cannot be reached", reason=str(error) or "no answer in time")
        return False

    @property
    def _attempt_limit_s(self) -> float:
        """Half the deadline: one request that hangs leaves time for another."""
        return self._settings.renew_deadline_s / 2

    @property
    def _spec(self) -> LeaseSpec:
        return self._lease.spec if self._lease else LeaseSpec()

    def _claim(self) -> LeaseSpec:
        """The Lease, held by this process as of now."""
        now = _micro_time(self._clock.now())
        is_mine = self.leader == self.identity
        is_first = self._lease is None
        transitions = self._spec.lease_transitions or 0
        return LeaseSpec(
            holder_identity=self.identity,
            lease_duration_seconds=self._settings.lease_duration_s,
            acquire_time=self._spec.acquire_time if is_mine else now,
            renew_time=now,
            lease_transitions=transitions if is_mine or is_first else transitions + 1,
        )

    async def _create(self, sent_at: float) -> None:
        metadata = ObjectMeta(name=self._name, namespace=self._namespace)
        lease = Lease(metadata=metadata, spec=self._claim())
        self._saw(await self._client.create(LEASES, lease, self._namespace))
        self._renewed_at = sent_at

    async def _patch_mine(self, spec: LeaseSpec, sent_at: float = -inf) -> None:
        """Writes the Lease if it is still this process's, also if others labelled it meanwhile."""
        try:
            await self._patch(spec, sent_at)
        except Conflict:
            self._saw(await self._client.get(LEASES, self._name, self._namespace))
            if self.leader != self.identity:
                self._lose(f"{self.leader or 'nobody'} holds it")
            await self._patch(spec, sent_at)

    async def _patch(self, spec: LeaseSpec, sent_at: float) -> None:
        """Writes the Lease unless somebody else did since it was seen; then Conflict."""
        if self._lease is None:
            raise AssertionError("a Lease that was never seen would be taken from its holder")
        version = self._lease.metadata.resource_version
        patch = MergePatch({"metadata": {"resourceVersion": version}, "spec": spec})
        self._saw(await self._client.patch(LEASES, self._name, patch, self._namespace))
        self._renewed_at = sent_at

    def _saw(self, lease: Lease) -> None:
        before = self.leader
        if self._lease is None or lease.spec != self._lease.spec:
            self._changed_at = self._clock.monotonic()
        self._lease = lease
        if self.leader != before:
            self._log.info("lease changed hands", holder=self.leader)


def _micro_time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
