"""Logs: constant events with values, one JSON line each, under KubeVirt's field names.

    log = get_logger("kube.informer")          # at the top of a module, costs nothing
    log = log.about(vmi).bind(node=node)       # once per object
    log.info("migration target ready", port=port, took_s=round(took, 2))

A program calls `configure` once. Until then the standard library's rules hold: warnings come out
as plain text, the rest is silent. Records travel through the standard library, so what aiohttp and
asyncio have to say comes out in the same form.

Three promises hold for every line, whoever wrote it: it is one line (a guest's newline is escaped),
it is bounded, and what looks like a secret is not in it. A stack trace marks a bug; an error of our
own tree has said in its message what a reader needs.

structlog renders for a terminal and is imported only there: it costs as much as all of asyncio, and a
launcher, of which there is one for each guest, writes JSON.
"""

import logging
import math
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any, TextIO

from kubevirt.base.errors import is_bug

DEFAULT_VERBOSITY = 2
"""KubeVirt's and Kubernetes': 2 shows info, 3 debug, below 2 only warnings and errors come out."""

HOUSE = "kubevirt"
TEXT_LIMIT = 4096
STACK_LIMIT = 16384
ITEM_LIMIT = 64
DEPTH_LIMIT = 4
REDACTED = "[redacted]"


def get_logger(name: str) -> "Logger":
    """The logger of a module, named after its place below `kubevirt`: `kube.informer`."""
    return Logger(logging.getLogger(f"{HOUSE}.{name.removeprefix(HOUSE + '.')}"), {})


class Logger:
    """Writes events, with the values bound so far. Immutable: `bind` gives another logger."""

    __slots__ = ("_sink", "_values")

    def __init__(self, sink: logging.Logger, values: Mapping[str, Any]) -> None:
        self._sink = sink
        self._values = values

    def bind(self, **values: Any) -> "Logger":
        return Logger(self._sink, {**self._values, **values})

    def about(self, thing: Any) -> "Logger":
        """Binds the name, namespace, kind and uid of a Kubernetes object."""
        metadata = thing.metadata
        values = {
            "name": metadata.name,
            "kind": getattr(thing, "kind", None) or type(thing).__name__,
            "uid": metadata.uid,
        }
        if metadata.namespace:
            values["namespace"] = metadata.namespace
        return self.bind(**values)

    def debug(self, event: str, /, **values: Any) -> None:
        self._write(logging.DEBUG, event, values)

    def info(self, event: str, /, **values: Any) -> None:
        self._write(logging.INFO, event, values)

    def warning(self, event: str, /, *, error: BaseException | None = None, **values: Any) -> None:
        """`error` becomes the field `reason`, with a stack trace if it is a bug."""
        self._write(logging.WARNING, event, values, error)

    def error(self, event: str, /, *, error: BaseException | None = None, **values: Any) -> None:
        """`error` becomes the field `reason`, with a stack trace if it is a bug."""
        self._write(logging.ERROR, event, values, error)

    def exception(self, event: str, /, **values: Any) -> None:
        """Inside an `except` block: `error` with the exception that is being handled."""
        self._write(logging.ERROR, event, values, sys.exc_info()[1])

    def _write(
        self,
        level: int,
        event: str,
        values: Mapping[str, Any],
        error: BaseException | None = None,
    ) -> None:
        if not self._sink.isEnabledFor(level):
            return
        if error is not None and not is_bug(error):
            values, error = {**values, "reason": _told(error)}, None
        message = _Event(event, {**self._values, **values})
        # Two frames up is whoever called `info` and its siblings.
        self._sink.log(level, message, exc_info=error, stacklevel=3)


class _Event:
    """What a record carries: the event and its values, readable as text where nothing is set up."""

    __slots__ = ("text", "values")

    def __init__(self, text: str, values: Mapping[str, Any]) -> None:
        self.text = text
        self.values = values

    def __str__(self) -> str:
        pairs = (f"{key}={value}" for key, value in _bounded(self.values).items())
        return " ".join([_without_secrets(self.text), *pairs])


class Logs:
    """The set-up of this process's logs, as `configure` made it."""

    def __init__(self, handler: logging.Handler) -> None:
        self._handler = handler

    def set_verbosity(self, verbosity: int) -> None:
        """May change at any time: an administrator can ask a running component for more."""
        logging.getLogger(HOUSE).setLevel(_house_level(verbosity))
        logging.getLogger().setLevel(_library_level(verbosity))

    def close(self) -> None:
        """Back to the silence before `configure`."""
        logging.captureWarnings(False)
        logging.getLogger().removeHandler(self._handler)
        logging.getLogger().setLevel(logging.WARNING)
        logging.getLogger(HOUSE).setLevel(logging.NOTSET)


def configure(
    component: str, verbosity: int = DEFAULT_VERBOSITY, stream: TextIO | None = None
) -> Logs:
    """Sends this process's logs to `stream`, standard error by default.

    A terminal gets lines for the eye, everything else gets JSON. `component` is the program's
    name: `virt-handler`.
    """
    stream = stream or sys.stderr
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_Lines(component, for_terminal=stream.isatty()))
    handler.addFilter(_is_told)
    logging.getLogger().addHandler(handler)
    logging.captureWarnings(True)
    logs = Logs(handler)
    logs.set_verbosity(verbosity)
    return logs


def _is_told(record: logging.LogRecord) -> bool:
    """All but what asyncio says of a connection that broke while its last bytes were written: it is taken leave
    of twice, and the second time finds nothing there. Nobody can do anything about it, or needs to.
    """
    error = record.exc_info[1] if record.exc_info else None
    is_second = (
        isinstance(error, AttributeError) and "_call_connection_lost(" in record.getMessage()
    )
    return not (is_second and record.name == "asyncio")


def _house_level(verbosity: int) -> int:
    if verbosity < 2:
        return logging.WARNING
    return logging.INFO if verbosity == 2 else logging.DEBUG


def _library_level(verbosity: int) -> int:
    """Libraries are chatty: their infos come at 4, all they have at 6, where kubectl shows requests."""
    if verbosity < 4:
        return logging.WARNING
    return logging.INFO if verbosity < 6 else logging.DEBUG


class _Lines(logging.Formatter):
    """Gives each record KubeVirt's fields, and renders them for a program or for the eye."""

    def __init__(self, component: str, *, for_terminal: bool) -> None:
        super().__init__()
        self._component = component
        self._rendered = _renderer_for_the_eye() if for_terminal else _renderer_for_programs()

    def format(self, record: logging.LogRecord) -> str:
        return self._rendered(record, _fields(record, self._component))


_Renderer = Callable[[logging.LogRecord, dict[str, Any]], str]


def _renderer_for_programs() -> _Renderer:
    import json  # noqa: PLC0415  # see the module's docstring

    # Fields are bounded plain data, so nothing in them can fail to be written.
    return lambda _, fields: json.dumps(fields, sort_keys=True)


def _renderer_for_the_eye() -> _Renderer:
    from structlog import dev  # noqa: PLC0415  # see the module's docstring

    render = dev.ConsoleRenderer(event_key="msg", pad_event_to=0, sort_keys=False)
    return lambda record, fields: render(None, record.levelname, _terminal_fields(fields))


def _fields(record: logging.LogRecord, component: str) -> dict[str, Any]:
    """A record as KubeVirt writes it. The house's own fields win over values of the same name."""
    message = record.msg
    if isinstance(message, _Event):
        text, values = message.text, message.values
    else:
        text, values = record.getMessage().rstrip(), {}
    error = record.exc_info[1] if record.exc_info else None
    return {
        **_bounded(values),
        **(_why(error) if error else {}),
        "component": component,
        "level": "fatal" if record.levelno >= logging.CRITICAL else record.levelname.lower(),
        "logger": record.name.removeprefix(HOUSE + "."),
        "msg": _without_secrets(_cut(text)),
        "pos": f"{record.filename}:{record.lineno}",
        "timestamp": datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
    }


def _why(error: BaseException) -> dict[str, str]:
    if not is_bug(error):
        return {"reason": _without_secrets(_cut(_told(error)))}
    # The end of a trace is where it happened; a deep recursion is cut at its beginning.
    trace = "".join(traceback.format_exception(error))[-STACK_LIMIT:]
    reason = f"{type(error).__name__}: {error}".removesuffix(": ")
    return {"reason": _without_secrets(_cut(reason)), "stack": _without_secrets(trace)}


def _told(error: BaseException) -> str:
    """What an error of our own tree says, or all that a group of them do."""
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(_told(each) for each in error.exceptions)
    return str(error)


def _terminal_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fewer fields, and no control characters: a guest's string must not paint the terminal."""
    shown = {key: _printable(value) for key, value in fields.items() if key != "component"}
    shown["timestamp"] = fields["timestamp"][11:23]
    if "stack" in fields:
        shown["stack"] = "\n".join(_printable(line) for line in fields["stack"].splitlines())
    return shown


def _printable(value: Any) -> Any:
    if not isinstance(value, str) or value.isprintable():
        return value
    return value.encode("unicode_escape").decode()


def _bounded(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: REDACTED if _is_secret(key) else _plain(value) for key, value in values.items()}


def _plain(value: Any, depth: int = 0) -> Any:
    """Any value as bounded JSON data, without what its names call a secret."""
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)  # NaN is no JSON
        case str():
            return _without_secrets(_cut(value))
        case bytes() | bytearray() | memoryview():
            return f"<{len(value)} bytes>"
        case datetime():
            return value.isoformat()
        case _ if depth == DEPTH_LIMIT:
            return "…"
        case Mapping():
            return {
                _cut(str(key)): REDACTED if _is_secret(str(key)) else _plain(each, depth + 1)
                for key, each in islice(value.items(), ITEM_LIMIT)
            }
        case list() | tuple() | set() | frozenset():
            return _plain_items(value, depth)
        case _:
            # `str` of a quantity, a path, an error is what people call it.
            return _without_secrets(_cut(str(value)))


def _plain_items(values: Iterable[Any], depth: int) -> list[Any]:
    items = list(islice(values, ITEM_LIMIT + 1))
    plain = [_plain(each, depth + 1) for each in items[:ITEM_LIMIT]]
    return [*plain, "…"] if len(items) > ITEM_LIMIT else plain


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_LIMIT else f"{text[:TEXT_LIMIT]}… ({len(text)} characters)"


# Names that end like this hold a secret; `secret_name` or `token_count` do not.
_SECRET_NAME = re.compile(
    r"(token|password|passwd|passphrase|secret|credentials?|authorization|cookie"
    r"|(private|client|api|host|ssh)key|keydata|userdata(base64)?|stringdata)s?$"
)
# What is secret under any name: a bearer token, a JWT, a private key, a password inside a URL.
_SECRET_TEXT = re.compile(
    r"(?P<keep>\b[Bb]earer\s+)[\w.~+/=-]{12,}"
    r"|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)",
    re.DOTALL,
)


def _is_secret(name: str) -> bool:
    return _SECRET_NAME.search(re.sub(r"[^a-z0-9]", "", name.lower())) is not None


def _without_secrets(text: str) -> str:
    return _SECRET_TEXT.sub(lambda found: (found["keep"] or "") + REDACTED, text)
