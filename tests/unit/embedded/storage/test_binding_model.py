"""Whatever claims and volumes there are, and wherever a crash stops the work, binding comes out right."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.embedded.storage.objects import a_claim, a_class, a_volume, owner, seen

from kubevirt.api.core.references import ObjectReference
from kubevirt.api.core.storage import PersistentVolume, PersistentVolumeClaim
from kubevirt.embedded.objects.claims import best
from kubevirt.embedded.storage import decide, objects, steps

NAMES = ("a", "b", "c")
VOLUMES = ("v", "w", "x")
SIZES = st.sampled_from(["1Gi", "2Gi"])
MODES = st.sampled_from([*["Filesystem"] * 4, "Block"])
WANTED = st.sampled_from([*[None] * 6, *VOLUMES])
MEANT = st.sampled_from([*[None] * 6, *(owner(each, "") for each in NAMES), owner("gone")])
PLAIN: dict[str, Any] = {"storageClassName": ""}


def claims() -> st.SearchStrategy[list[PersistentVolumeClaim]]:
    def one(name: str) -> st.SearchStrategy[PersistentVolumeClaim]:
        return st.builds(
            lambda size, mode, volume: a_claim(
                name, size, volumeMode=mode, volumeName=volume, **PLAIN
            ),
            *(SIZES, MODES, WANTED),
        )

    return st.tuples(*map(one, NAMES)).map(list)


def volumes() -> st.SearchStrategy[list[PersistentVolume]]:
    def one(name: str) -> st.SearchStrategy[PersistentVolume | None]:
        made = st.builds(
            lambda size, mode, claim: a_volume(
                name, size, volumeMode=mode, claimRef=claim, **PLAIN
            ),
            *(SIZES, MODES, MEANT),
        )
        return st.one_of(made, made, st.none())

    return st.tuples(*map(one, VOLUMES)).map(lambda found: [each for each in found if each])


class Model:
    """Objects as a server would have them, and writes that may stop half way."""

    def __init__(self, found: list[PersistentVolumeClaim], had: list[PersistentVolume]) -> None:
        self.claims = {each.metadata.name: each for each in found}
        self.volumes = {each.metadata.name: each for each in had}

    def seen(self) -> decide.Seen:
        return seen(*self.claims.values(), *self.volumes.values(), a_class())

    def round(self, crashes: st.DataObject) -> bool:
        """Whether anything was written."""
        is_changed = False
        for name in list(self.claims):
            for step in decide.for_claim(self.claims[name], self.seen()):
                if isinstance(step, steps.Bind):
                    is_changed = True
                    self._bind(name, step.volume.metadata.name, crashes)
        for name in list(self.volumes):
            for each in decide.for_volume(self.volumes[name], self.seen()):
                is_changed |= self._do(name, each)
        return is_changed

    def _bind(self, name: str, volume: str, crashes: st.DataObject) -> None:
        claim, had = self.claims[name], self.volumes[volume]
        self.volumes[volume] = _merged(had, objects.volume_of(claim, had), PersistentVolume)
        if crashes.draw(st.booleans()):
            return
        changed = objects.claim_on(claim, self.volumes[volume])
        self.claims[name] = _merged(claim, changed, PersistentVolumeClaim)
        if crashes.draw(st.booleans()):
            return
        status = {"status": objects.bound_status(self.volumes[volume])}
        self.claims[name] = _merged(self.claims[name], status, PersistentVolumeClaim)

    def _do(self, name: str, step: steps.VolumeStep) -> bool:
        volume = self.volumes[name]
        if isinstance(step, steps.Show):
            status = {"status": {"phase": step.phase, "message": step.message or None}}
            self.volumes[name] = _merged(volume, status, PersistentVolume)
            return True
        if isinstance(step, steps.Free):
            self.volumes[name] = _merged(volume, {"spec": {"claimRef": None}}, PersistentVolume)
            return True
        return False


def _merged(thing: Any, change: dict[str, Any], kind: type[Any]) -> Any:
    def merge(old: Any, new: Any) -> Any:
        if not isinstance(old, dict) or not isinstance(new, dict):
            return new
        found = {**old, **{key: merge(old.get(key), value) for key, value in new.items()}}
        return {key: value for key, value in found.items() if value is not None}

    change["metadata"] = {
        key: value for key, value in change.get("metadata", {}).items() if key != "resourceVersion"
    }
    return msgspec.convert(merge(msgspec.to_builtins(thing), msgspec.to_builtins(change)), kind)


@given(claims(), volumes(), st.data())
def test_no_two_claims_share_a_volume_and_all_that_can_be_bound_are(
    found: list[PersistentVolumeClaim], had: list[PersistentVolume], data: st.DataObject
) -> None:
    model = Model(found, had)
    for _ in range(100):
        if not model.round(data):
            break
    else:
        raise AssertionError("it never comes to rest")

    bound = [each for each in model.claims.values() if each.status.phase == "Bound"]
    taken = [each.spec.volume_name for each in bound]
    assert len(taken) == len(set(taken))
    for claim in bound:
        volume = model.volumes[claim.spec.volume_name or ""]
        reference = volume.spec.claim_ref
        assert isinstance(reference, ObjectReference)
        assert reference.uid == claim.metadata.uid
        assert volume.status.phase == "Bound"
    for claim in model.claims.values():
        if claim not in bound and not claim.spec.volume_name:
            assert best(claim, model.volumes.values()) is None
