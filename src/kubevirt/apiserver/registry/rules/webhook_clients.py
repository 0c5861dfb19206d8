"""Whom a webhook calls: an address, or a service of the cluster."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema import names
from kubevirt.apiserver.schema.field_errors import FieldError, invalid, required

_FORM: Final = "; desired format: https://host[/path]"


def errors(config: Object, at: str) -> Iterator[FieldError]:
    has_url, has_service = config.get("url") is not None, config.get("service") is not None
    if has_url == has_service:
        yield required(at, "exactly one of url or service is required")
    elif has_url:
        yield from _of_url(config["url"], f"{at}.url")
    else:
        yield from _of_service(config["service"], f"{at}.service")


def _of_url(url: str, at: str) -> Iterator[FieldError]:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        yield required(at, f"url must be a valid URL: {error}{_FORM}")
        return
    if parts.scheme != "https":
        yield invalid(at, parts.scheme, f"'https' is the only allowed URL scheme{_FORM}")
    user, _, host = parts.netloc.rpartition("@")
    if not host:
        yield invalid(at, "", f"host must be specified{_FORM}")
    if user:
        yield invalid(at, user, "user information is not permitted in the URL")
    if parts.fragment:
        yield invalid(at, parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        yield invalid(at, parts.query, "query parameters are not permitted in the URL")


def _of_service(service: Object, at: str) -> Iterator[FieldError]:
    # Kubernetes takes the one for the other here.
    if not service.get("namespace"):
        yield required(f"{at}.name")
    if not service.get("name"):
        yield required(f"{at}.namespace")
    port = service.get("port", 443)
    if not 1 <= port <= 65535:
        words = "port is not valid: must be between 1 and 65535, inclusive"
        yield invalid(f"{at}.port", port, words)
    yield from _of_path(service.get("path") or "", f"{at}.path")


def _of_path(path: str, at: str) -> Iterator[FieldError]:
    if path in ("", "/"):
        return
    if path == "//":
        yield invalid(at, path, "segment[0] may not be empty")
        return
    if not path.startswith("/"):
        yield invalid(at, path, "must start with a '/'")
    for index, step in enumerate(path[1:].removesuffix("/").split("/")):
        if not step:
            yield invalid(at, path, f"segment[{index}] may not be empty")
            continue
        wrong = names.subdomain(step)
        yield from (invalid(at, path, f"segment[{index}]: {words}") for words in wrong)
