"""The contents of a volume that is made of objects: one of them, or several in one folder."""

from kubevirt.api.core.pod_volumes import Volume, VolumeProjection
from kubevirt.embedded.node.volumes import config_map, downward_api, secret
from kubevirt.embedded.node.volumes.contents import DEFAULT_MODE, File, Files, NotThere, Origin
from kubevirt.embedded.objects.pods import spec_of


def files(volume: Volume, origin: Origin) -> Files | None:
    """None for a volume of another kind."""
    if (of := volume.config_map) is not None:
        mode, name = _mode(of.default_mode), of.name or ""
        return config_map.files(origin, name, of.items, mode, is_optional=bool(of.optional))
    if (hidden := volume.secret) is not None:
        mode, name = _mode(hidden.default_mode), hidden.secret_name or ""
        return secret.files(origin, name, hidden.items, mode, is_optional=bool(hidden.optional))
    if (facts := volume.downward_api) is not None:
        return downward_api.files(origin, facts.items, _mode(facts.default_mode))
    if (several := volume.projected) is not None:
        found: Files = {}
        for source in several.sources:
            found |= _of_source(volume.name, source, origin, _mode(several.default_mode))
        return found
    return None


def _of_source(volume: str, source: VolumeProjection, origin: Origin, mode: int) -> Files:
    if (of := source.config_map) is not None:
        is_optional = bool(of.optional)
        return config_map.files(origin, of.name or "", of.items, mode, is_optional=is_optional)
    if (hidden := source.secret) is not None:
        is_optional = bool(hidden.optional)
        return secret.files(origin, hidden.name or "", hidden.items, mode, is_optional=is_optional)
    if (facts := source.downward_api) is not None:
        return downward_api.files(origin, facts.items, mode)
    if (wanted := source.service_account_token) is not None:
        token = origin.tokens.get((volume, wanted.path))
        if token is None:
            raise NotThere(f"there is no token yet for {wanted.path}")
        # A group of the pod's own is let in by its number when the file is put in place; nobody else.
        context = spec_of(origin.pod).security_context
        is_for_group = context is not None and context.fs_group is not None
        return {wanted.path: File(data=token.encode(), mode=0o600 if is_for_group else mode)}
    return {}


def _mode(said: int | None) -> int:
    return DEFAULT_MODE if said is None else said
