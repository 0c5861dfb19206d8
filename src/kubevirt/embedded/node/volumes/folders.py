"""Where the volumes of a pod are: a kubelet's names, since components look for them there."""

from pathlib import Path
from typing import Final

from kubevirt.api.core.pod_volumes import Volume
from kubevirt.base.files import Root

_KINDS: Final = {
    "config_map": "kubernetes.io~configmap",
    "secret": "kubernetes.io~secret",
    "downward_api": "kubernetes.io~downward-api",
    "projected": "kubernetes.io~projected",
    "empty_dir": "kubernetes.io~empty-dir",
}
_FOR_ALL: Final = 0o777
_SET_GROUP: Final = 0o2000


def of(volume: Volume) -> str | None:
    """Below the pod's folder; None for one that is elsewhere."""
    for field, kind in _KINDS.items():
        if getattr(volume, field) is not None:
            return f"volumes/{kind}/{volume.name}"
    return None


def make(pod_folder: Path, place: str, *, group: int | None = None) -> Path:
    """The folder of a volume, for all containers of the pod whoever they run as. It stays as it is if
    it is there: what is in it is the pod's.
    """
    with Root.open(pod_folder) as root:
        above, _, _ = place.rpartition("/")
        root.mkdir(above, 0o750, parents=True, exist_ok=True)
        if not root.exists(place):
            root.mkdir(place, _FOR_ALL)
            if group is not None:
                root.chown(place, -1, group)
                root.chmod(place, _FOR_ALL | _SET_GROUP)
    return pod_folder / place
