"""Bodies of requests: bytes to data, within limits, whatever was sent."""

from typing import Any, Final

import msgspec
import yaml
from aiohttp import web

from kubevirt.apiserver import refusals
from kubevirt.apiserver.http import media
from kubevirt.apiserver.refusals import BODY_LIMIT, Refusal, bad_request
from kubevirt.apiserver.registry.incoming import Body, unrecognized
from kubevirt.apiserver.schema import decoding

NODES_LIMIT: Final = 1_000_000
"""Of a YAML document once its aliases are followed: a few lines can mean billions."""
_PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
READ: Final = web.RequestKey("read", bytes)
"""Where a request keeps the body that was read of it."""


async def read(request: web.BaseRequest) -> bytes:
    """All of it, up to the limit."""
    if (request.content_length or 0) > BODY_LIMIT:
        raise refusals.too_large()
    parts = []
    size = 0
    async for part in request.content.iter_any():
        size += len(part)
        if size > BODY_LIMIT:
            raise refusals.too_large()
        parts.append(part)
    request[READ] = b"".join(parts)
    return request[READ]


def content_type(request: web.BaseRequest) -> str:
    return request.headers.get("Content-Type", media.JSON).partition(";")[0].strip().lower()


def as_object(text: bytes, type_: str, kind: str) -> Body:
    """Of a create or an update."""
    if type_ not in (media.JSON, media.YAML, ""):
        raise refusals.unsupported_media_type((*media.OFFERED, _PROTOBUF))
    if type_ == media.YAML:
        return _yaml(text)
    try:
        value = decoding.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        shown = text.decode(errors="replace")[:1024] or "<empty>"
        words = f"couldn't get version/kind; json parse error: {_parse_error(text, error)}"
        raise unrecognized(kind, f"{words} ({shown})") from error
    return Body(value=value, duplicates=decoding.duplicate_fields(text, value), text=text)


def as_patch(text: bytes, *, is_yaml: bool) -> Body:
    if is_yaml and not text.lstrip().startswith(b"{"):
        return _yaml(text)
    try:
        value = decoding.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        if is_yaml:
            return _yaml(text)
        raise bad_request(f"error decoding patch: {_parse_error(text, error)}") from error
    return Body(value=value, duplicates=decoding.duplicate_fields(text, value), text=text)


def as_options(text: bytes, type_: str) -> dict[str, Any] | None:
    """Of a deletion; none is as good as any."""
    if not text.strip():
        return None
    value = as_object(text, type_, "DeleteOptions").value
    if not isinstance(value, dict):
        raise bad_request("the body of a deletion must be DeleteOptions")
    if value.get("kind") not in (None, "DeleteOptions"):
        return None
    return value


def _parse_error(text: bytes, error: Exception) -> str:
    """As Go's decoder would say it."""
    said = str(error)
    if isinstance(error, RecursionError):
        return "exceeded max depth"
    if "truncated" in said or not text.strip():
        return "unexpected end of JSON input"
    place = said.rpartition("byte ")[2].rstrip(")")
    if place.isdigit() and int(place) < len(text):
        shown = chr(text[int(place)])
        return f"invalid character {_quoted(shown)} looking for beginning of value"
    return said


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # chosen at run time
    """Without times: in Kubernetes' objects they are strings."""


_Loader.yaml_implicit_resolvers = {
    first: [each for each in resolvers if each[0] != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _yaml(text: bytes) -> Body:
    try:
        value = yaml.load(text, Loader=_Loader)  # noqa: S506  # it is a safe loader
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        words = " ".join(str(error).split())
        raise bad_request(f"error converting YAML to JSON: yaml: {words}") from error
    _count(value, {})
    return Body(value=_plain(value), text=text)


def _count(value: Any, known: dict[int, int]) -> int:
    """Nodes of a value in which parts may stand for many."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) in known:
        return known[id(value)]
    known[id(value)] = NODES_LIMIT  # a value inside itself has no end
    children = value.values() if isinstance(value, dict) else value
    size = 1 + sum(_count(each, known) for each in children)
    if size > NODES_LIMIT:
        raise _endless()
    known[id(value)] = size
    return size


def _endless() -> Refusal:
    return bad_request("error converting YAML to JSON: yaml: document contains excessive aliasing")


def _plain(value: Any) -> Any:
    """As JSON would have it: names are strings."""
    if isinstance(value, dict):
        return {_name(name): _plain(child) for name, child in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _name(name: Any) -> str:
    if isinstance(name, bool):
        return "true" if name else "false"
    return name if isinstance(name, str) else str(name)


def _quoted(character: str) -> str:
    return "'\\''" if character == "'" else f"'{character}'"
