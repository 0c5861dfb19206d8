"""The environment of a container: what it was given, taken over and told, in Kubernetes' order.

Whole ConfigMaps and Secrets first (`envFrom`), then the variables by name, each of which may refer to
what stands before it; links to services are underneath. What cannot be read is `CreateContainerConfigError`
with the cause, and the container waits for it.
"""

from base64 import b64decode
from collections.abc import Mapping
from typing import Final

import msgspec

from kubevirt.api.core.container import Container, EnvVar, EnvVarSource
from kubevirt.api.core.namespace import ConfigMap, Secret
from kubevirt.api.core.pod import Pod
from kubevirt.base.errors import UserError
from kubevirt.embedded.node import downward
from kubevirt.embedded.node.downward import Places
from kubevirt.embedded.node.expansion import expand

REASON: Final = "CreateContainerConfigError"


class Missing(UserError):  # noqa: N818  # it is what the thing is
    """Something that a container's environment is made of."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason=REASON)


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """What an environment is read from; objects of the pod's namespace, by name."""

    config_maps: Mapping[str, ConfigMap] = {}
    secrets: Mapping[str, Secret] = {}
    service_links: Mapping[str, str] = {}
    places: Places = Places()


def variables(pod: Pod, container: Container, sources: Sources) -> dict[str, str]:
    found = _taken_over(container, sources)
    for each in container.env:
        value = _value(pod, container, each, found, sources)
        if value is not None:
            found[each.name] = value
    return {**sources.service_links, **found}


def command(container: Container, environment: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Command and arguments with their variables put in; empty where the image says it."""
    return (
        [expand(each, environment) for each in container.command],
        [expand(each, environment) for each in container.args],
    )


def _taken_over(container: Container, sources: Sources) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in container.env_from:
        entries: Mapping[str, str] | None = None
        if (config_map := each.config_map_ref) is not None:
            entries = _config_map(config_map.name, sources, is_optional=config_map.optional)
        elif (secret := each.secret_ref) is not None:
            entries = _secret(secret.name, sources, is_optional=secret.optional)
        found |= {f"{each.prefix or ''}{key}": value for key, value in (entries or {}).items()}
    return found


def _value(
    pod: Pod, container: Container, variable: EnvVar, before: Mapping[str, str], sources: Sources
) -> str | None:
    """None for one that may be left out."""
    if variable.value:
        return expand(variable.value, before, sources.service_links)
    source = variable.value_from
    if source is None:
        return ""
    if source.field_ref is not None:
        return downward.field(pod, source.field_ref.field_path, sources.places)
    if source.resource_field_ref is not None:
        return downward.resource(pod, container, source.resource_field_ref, sources.places)
    return _by_key(pod, source, sources)


def _by_key(pod: Pod, source: EnvVarSource, sources: Sources) -> str | None:
    if (ref := source.config_map_key_ref) is not None:
        kind, entries = "ConfigMap", _config_map(ref.name, sources, is_optional=ref.optional)
        name, key, is_optional = ref.name, ref.key, ref.optional
    elif (secret := source.secret_key_ref) is not None:
        kind, entries = "Secret", _secret(secret.name, sources, is_optional=secret.optional)
        name, key, is_optional = secret.name, secret.key, secret.optional
    else:
        return ""
    if entries is None or (key not in entries and is_optional):
        return None
    if key not in entries:
        where = f"{pod.metadata.namespace}/{name}"
        raise Missing(f"couldn't find key {key} in {kind} {where}")
    return entries[key]


def _config_map(
    name: str | None, sources: Sources, *, is_optional: bool | None
) -> Mapping[str, str] | None:
    found = sources.config_maps.get(name or "")
    if found is None and not is_optional:
        raise Missing(f'configmap "{name}" not found')
    return found.data if found else None


def _secret(
    name: str | None, sources: Sources, *, is_optional: bool | None
) -> Mapping[str, str] | None:
    found = sources.secrets.get(name or "")
    if found is None and not is_optional:
        raise Missing(f'secret "{name}" not found')
    if found is None:
        return None
    # No variable can hold what is no text; the file system's way keeps each byte nevertheless.
    return {
        key: b64decode(value).decode(errors="surrogateescape") for key, value in found.data.items()
    }
