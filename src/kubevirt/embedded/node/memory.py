"""What a node knows of one pod while it runs: found again from the disk at the start, kept there where it
must not be forgotten.
"""

from datetime import datetime
from typing import Any, Self

import msgspec

from kubevirt.api.core.pod import Pod
from kubevirt.embedded.node import records, sighting
from kubevirt.embedded.node.backoff import TRIES_THAT_COUNT
from kubevirt.embedded.node.neighbours import Image, NoImageForVolume, PodNetwork
from kubevirt.embedded.node.policy import all_containers
from kubevirt.embedded.node.records import PodRecords, State
from kubevirt.embedded.node.seen import ContainerSeen, PodSeen, Setback, Tried, Verdict


class PodMemory:
    def __init__(
        self, folder: PodRecords, state: State, tries: dict[str, list[Tried]], *, is_known: bool
    ) -> None:
        self.folder = folder
        self.state = state
        self.is_known = is_known
        """It was let in before."""
        self.tries = tries
        self.setbacks: dict[str, Setback] = {}
        self.images: dict[str, tuple[int, Image]] = {}
        """With the try that each was had for."""
        self.verdict: Verdict | None = None

    @classmethod
    def recall(cls, pod: Pod, folder: PodRecords, boot_id: str) -> Self:
        found = folder.state()
        if found is None:
            fresh = State(session=records.new_session(), boot_id=boot_id)
            # Attempts without it: the power went before it was written. What runs must be seen.
            tries = sighting.tries(pod, folder, fresh.session)
            return cls(folder, fresh, tries, is_known=bool(folder.all_attempts()))
        if found.boot_id == boot_id and not found.is_down:
            tries = sighting.tries(pod, folder, found.session)
            return cls(folder, found, tries, is_known=True)
        state = State(
            session=records.new_session(), boot_id=boot_id, is_torn_down=found.is_torn_down
        )
        folder.keep_state(state)
        return cls(folder, state, sighting.tries(pod, folder, state.session), is_known=True)

    def let_in(self, pod: Pod) -> None:
        self.folder.begin(pod, self.state)
        self.is_known = True

    def remember(self, **changes: Any) -> None:
        state = msgspec.structs.replace(self.state, **changes)
        if state != self.state:
            self.state = state
            if self.is_known:
                self.folder.keep_state(state)

    @property
    def network(self) -> PodNetwork | None:
        return self.state.network

    # Tries

    def last(self, name: str) -> Tried | None:
        its = self.tries.get(name)
        return its[-1] if its else None

    @property
    def has_begun(self) -> bool:
        """Something was tried since the machine, or the home, came up."""
        return any(not each.is_of_before for its in self.tries.values() for each in its)

    def running(self) -> list[tuple[str, Tried]]:
        found = ((name, its[-1]) for name, its in self.tries.items() if its)
        return [(name, tried) for name, tried in found if tried.is_running]

    def add(self, name: str, tried: Tried) -> None:
        self.tries[name] = [*self.tries.get(name, ()), tried][-TRIES_THAT_COUNT:]
        self.setbacks.pop(name, None)

    def change(self, name: str, number: int, **changes: Any) -> None:
        """Of one that is forgotten already: nothing."""
        self.tries[name] = [
            msgspec.structs.replace(each, **changes) if each.number == number else each
            for each in self.tries.get(name, ())
        ]

    def change_stopping(self, name: str, number: int, **changes: Any) -> None:
        """Kept on disk: a grace period goes on whoever comes after us."""
        tried = next((each for each in self.tries.get(name, ()) if each.number == number), None)
        if tried is None or tried.stopping is None:
            return
        stopping = msgspec.structs.replace(tried.stopping, **changes)
        records.keep_stopping(self.folder.attempt(name, number), stopping)
        self.change(name, number, stopping=stopping)

    # Images

    def has_image(self, name: str, number: int, image: Image) -> None:
        self.images[name] = (number, image)
        self.setbacks.pop(name, None)

    def set_back(self, name: str, setback: Setback) -> None:
        self.setbacks[name] = setback

    def wait_for_image(self, pod: Pod, error: NoImageForVolume, now: datetime) -> None:
        """Of a volume, by the containers that mount it. The same trouble again is nothing new to tell."""
        for container in all_containers(pod):
            if all(each.name != error.volume for each in container.volume_mounts):
                continue
            before = self.setbacks.get(container.name)
            if before is None or (before.image, before.message) != (error.image, error.message):
                self.setbacks[container.name] = Setback(
                    reason=error.reason, message=error.message, at=now, image=error.image
                )

    def seen(self, host_addresses: tuple[str, ...]) -> PodSeen:
        names = self.tries.keys() | self.setbacks.keys() | self.images.keys()
        state = self.state
        return PodSeen(
            containers={name: self._container(name) for name in names},
            has_volumes=state.has_volumes,
            addresses=state.network.addresses if state.network else (),
            host_addresses=host_addresses,
            verdict=self.verdict,
            is_torn_down=state.is_torn_down,
        )

    def _container(self, name: str) -> ContainerSeen:
        number, _ = self.images.get(name, (-1, None))
        return ContainerSeen(
            tries=tuple(self.tries.get(name, ())),
            image_at_hand_for=number,
            setback=self.setbacks.get(name),
        )
