"""What a ConfigMap comes to as files."""

from base64 import b64decode
from collections.abc import Iterable

from kubevirt.api.core.pod_volumes import KeyToPath
from kubevirt.embedded.node.volumes.contents import Files, NotThere, Origin, picked


def files(
    origin: Origin, name: str, items: Iterable[KeyToPath], mode: int, *, is_optional: bool
) -> Files:
    found = origin.config_maps.get(name)
    if found is None:
        if is_optional:
            return {}
        raise NotThere(f'configmap "{name}" not found')
    entries = {key: text.encode() for key, text in found.data.items()}
    entries |= {key: b64decode(data) for key, data in found.binary_data.items()}
    return picked(entries, items, mode, _missing, is_optional=is_optional)


def _missing(key: str) -> str:
    return f"configmap references non-existent config key: {key}"
