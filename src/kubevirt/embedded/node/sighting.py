"""From the folders of attempts to what is seen of a pod: how a process that was just started learns all
that the one before it knew.
"""

import hashlib
from datetime import UTC, datetime

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import ContainerStatus, Pod
from kubevirt.embedded.node import records, termination
from kubevirt.embedded.node.policy import all_containers
from kubevirt.embedded.node.records import PodRecords
from kubevirt.embedded.node.seen import Ended, Hook, Probed, Stopping, Tried
from kubevirt.embedded.runtime.attempt import Attempt


def identity(uid: str, name: str, number: int) -> str:
    """Of one try, as statuses show it: the same whoever tells it."""
    return f"kubevirt://{hashlib.sha256(f'{uid}/{name}/{number}'.encode()).hexdigest()}"


def tries(pod: Pod, folder: PodRecords, session: str) -> dict[str, list[Tried]]:
    """All that were begun. What was only about to begin never was, and leaves nothing behind."""
    statuses = {
        each.name: each
        for each in (*pod.status.init_container_statuses, *pod.status.container_statuses)
    }
    found: dict[str, list[Tried]] = {}
    for container in all_containers(pod):
        its = found.setdefault(container.name, [])
        for attempt in folder.attempts(container.name):
            if not records.has_begun(attempt):
                records.remove(attempt.folder)
                continue
            its.append(tried(folder.uid, container, attempt, session, statuses.get(container.name)))
    return found


def tried(
    uid: str, container: Container, attempt: Attempt, session: str, told: ContainerStatus | None
) -> Tried:
    record = records.try_of(attempt)
    number = int(attempt.folder.name)
    id_ = identity(uid, container.name, number)
    began_at = record.began_at if record else _changed_at(attempt)
    return Tried(
        number=number,
        id=id_,
        image_id=record.image_id if record else "",
        started_at=began_at,
        ended=ended(container, attempt),
        probed=_probed(told, id_),
        stopping=_stopping(attempt),
        is_of_before=record is None or record.session != session,
    )


def ended(container: Container, attempt: Attempt) -> Ended | None:
    """None while it runs."""
    ending = attempt.ending
    if ending is None:
        return None
    stopping = records.stopping_of(attempt)
    has_failed = ending.code != 0 or ending.is_lost
    return Ended(
        code=ending.code,
        at=ending.at,
        failure=ending.failure,
        message=termination.message(attempt.folder, container, has_failed=has_failed),
        is_out_of_memory=records.is_out_of_memory(attempt),
        is_interrupted=stopping is not None and stopping.is_interruption,
    )


def _probed(told: ContainerStatus | None, id_: str) -> Probed:
    """What probes had found before this process began; they go on from there, and nobody who looks
    sees a container that was ready become unready for it.
    """
    if told is None or told.container_id != id_:
        return Probed()
    return Probed(has_started=bool(told.started), is_ready=told.ready)


def _stopping(attempt: Attempt) -> Stopping | None:
    found = records.stopping_of(attempt)
    if found is None or found.pre_stop is not Hook.RUNNING:
        return found
    return Stopping(  # the hook ended with the process that ran it
        since=found.since,
        pre_stop=Hook.DONE,
        asked_at=found.asked_at,
        is_killed=found.is_killed,
        is_interruption=found.is_interruption,
    )


def _changed_at(attempt: Attempt) -> datetime:
    return datetime.fromtimestamp(attempt.folder.stat().st_mtime, UTC)
