"""Leader election of the `kubernetes` package: one leads, and when it ends the other does.

`lightkube` has no leader election; the house's own is held to the contract in
test_leader_election.py.
"""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from kubernetes import client
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

LIMIT_S = 120

pytestmark = pytest.mark.timeout(600)


class Candidate:
    """Stands for election in a thread of its own, until it is told to give up."""

    def __init__(self, lock: Any) -> None:
        self.leads = threading.Event()
        self._gives_up = threading.Event()
        self._stopped = threading.Event()
        # The shortest times that the package allows.
        settings = electionconfig.Config(
            lock,
            lease_duration=3,
            renew_deadline=2,
            retry_period=1,
            onstarted_leading=self._lead,
            onstopped_leading=self._stopped.set,
        )
        election = leaderelection.LeaderElection(settings)
        self._thread = threading.Thread(target=election.run, daemon=True)
        self._thread.start()

    def _lead(self) -> None:
        self.leads.set()
        self._gives_up.wait()
        # The package's only way to stop: the work that the lease protects has failed.
        raise RuntimeError("enough")

    def give_up(self) -> None:
        self._gives_up.set()
        assert self._stopped.wait(LIMIT_S)
        self._thread.join(LIMIT_S)
        assert not self._thread.is_alive()


def _lease_lock(api: Any, namespace: str, identity: str) -> Any:
    lock = LeaseLock("election", namespace, identity)
    lock.api_instance = client.CoordinationV1Api(api)
    return lock


def _config_map_lock(api: Any, namespace: str, identity: str) -> Any:
    lock = ConfigMapLock("election", namespace, identity)
    lock.api_instance = client.CoreV1Api(api)
    return lock


def _holder_of_lease(api: Any, namespace: str) -> str:
    lease = client.CoordinationV1Api(api).read_namespaced_lease("election", namespace)
    return str(lease.spec.holder_identity)


def _holder_of_config_map(api: Any, namespace: str) -> str:
    found = client.CoreV1Api(api).read_namespaced_config_map("election", namespace)
    return str(found.metadata.annotations["control-plane.alpha.kubernetes.io/leader"])


@pytest.mark.parametrize(
    ("lock", "holder"),
    [(_lease_lock, _holder_of_lease), (_config_map_lock, _holder_of_config_map)],
    ids=["lease", "config map"],
)
def test_one_leads_and_then_the_other(
    api: Any,
    namespace: str,
    lock: Callable[[Any, str, str], Any],
    holder: Callable[[Any, str], str],
) -> None:
    first = Candidate(lock(api, namespace, "ann"))
    assert first.leads.wait(LIMIT_S)
    second = Candidate(lock(api, namespace, "bob"))
    assert "ann" in holder(api, namespace)
    assert not second.leads.is_set()
    first.give_up()
    assert second.leads.wait(LIMIT_S)
    assert "bob" in holder(api, namespace)
    second.give_up()
