"""Every log line is one bounded line of JSON under KubeVirt's names, and holds no secret."""

import asyncio
import io
import json
import logging
import re
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kubevirt.base.errors import Retry, UserError
from kubevirt.base.log import DEFAULT_VERBOSITY, Logs, configure, get_logger
from kubevirt.base.quantity import Quantity


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Output:
    """What a configured program wrote."""

    def __init__(self, logs: Logs, stream: io.StringIO) -> None:
        self.logs = logs
        self.stream = stream

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]

    @property
    def line(self) -> dict[str, Any]:
        [only] = self.lines
        return only


@pytest.fixture
def logging_to() -> Iterator[Callable[..., Output]]:
    opened: list[Logs] = []

    def open_output(
        stream: io.StringIO | None = None, verbosity: int = DEFAULT_VERBOSITY
    ) -> Output:
        stream = stream or io.StringIO()
        opened.append(configure("virt-handler", verbosity, stream))
        return Output(opened[-1], stream)

    yield open_output
    for logs in opened:
        logs.close()


@pytest.fixture
def output(logging_to: Callable[..., Output]) -> Output:
    return logging_to()


log = get_logger("host.example")


def test_a_line_has_kubevirts_fields_in_alphabetical_order(output: Output) -> None:
    log.info("migration target ready", port=49152)
    line = output.line
    timestamp = line.pop("timestamp")
    position = line.pop("pos")
    assert line == {
        "component": "virt-handler",
        "level": "info",
        "logger": "host.example",
        "msg": "migration target ready",
        "port": 49152,
    }
    assert re.fullmatch(r"test_log\.py:\d+", position)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", timestamp)
    written = datetime.strptime(timestamp, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    assert abs((datetime.now(UTC) - written).total_seconds()) < 60
    assert list(output.line) == sorted(output.line)


def test_the_position_is_the_line_that_logs_for_every_level(output: Output) -> None:
    here = sys._getframe().f_lineno
    log.info("one")
    log.warning("two")
    log.error("three")
    assert [line["pos"] for line in output.lines] == [
        f"test_log.py:{here + offset}" for offset in (1, 2, 3)
    ]


def test_a_bound_logger_repeats_its_values_and_the_one_it_came_from_does_not(
    output: Output,
) -> None:
    bound = log.bind(vmi="default/testvm", node="node01")
    bound.info("seen", node="node02")
    log.info("plain")
    bound_line, plain_line = output.lines
    assert (bound_line["vmi"], bound_line["node"]) == ("default/testvm", "node02")
    assert "vmi" not in plain_line


@pytest.mark.parametrize(
    ("namespace", "expected"),
    [
        ("default", {"name": "testvm", "namespace": "default", "kind": "Thing", "uid": "u-1"}),
        (None, {"name": "testvm", "kind": "Thing", "uid": "u-1"}),
    ],
)
def test_a_logger_about_an_object_names_it_as_kubevirt_does(
    output: Output, namespace: str | None, expected: dict[str, str]
) -> None:
    class Thing:
        metadata = SimpleNamespace(name="testvm", namespace=namespace, uid="u-1")

    log.about(Thing()).info("synchronised")
    line = output.line
    fields = ("name", "namespace", "kind", "uid")
    assert {key: line[key] for key in fields if key in line} == expected


@pytest.mark.parametrize(
    ("verbosity", "levels"),
    [
        (0, ["warning", "error"]),
        (1, ["warning", "error"]),
        (2, ["info", "warning", "error"]),
        (3, ["debug", "info", "warning", "error"]),
        (9, ["debug", "info", "warning", "error"]),
    ],
)
def test_verbosity_counts_as_in_kubevirt(
    logging_to: Callable[..., Output], verbosity: int, levels: list[str]
) -> None:
    output = logging_to(verbosity=verbosity)
    log.debug("d")
    log.info("i")
    log.warning("w")
    log.error("e")
    assert [line["level"] for line in output.lines] == levels


def test_verbosity_can_change_while_running(output: Output) -> None:
    log.debug("too quiet")
    output.logs.set_verbosity(3)
    log.debug("heard")
    assert output.line["msg"] == "heard"


def test_an_error_of_the_house_gives_its_reason_without_a_stack_trace(output: Output) -> None:
    log.error("cannot attach", error=UserError("volume a is too small"))
    log.warning("later", error=ExceptionGroup("two", [Retry("not yet"), Retry("nor now")]))
    error, warning = output.lines
    assert error["reason"] == "volume a is too small"
    assert warning["reason"] == "not yet; nor now"
    assert "stack" not in error
    assert "stack" not in warning


def test_a_bug_gives_its_stack_trace(output: Output) -> None:
    try:
        {}["missing"]  # type: ignore[index]  # a bug, on purpose
    except KeyError:
        log.exception("reconcile failed")
    line = output.line
    assert line["reason"] == "KeyError: 'missing'"
    assert "test_a_bug_gives_its_stack_trace" in line["stack"]


def test_a_guest_cannot_write_a_line_of_its_own(output: Output) -> None:
    hostile = 'x\n{"level":"info","msg":"all is well"}\r\u2028\x1b[2J'
    log.info("agent answered", hostname=hostile)
    assert len(output.stream.getvalue().splitlines()) == 1
    assert output.line["hostname"] == hostile


def test_no_value_can_take_the_place_of_a_field_of_the_house(output: Output) -> None:
    log.info("seen", level="fatal", component="evil", msg="other", timestamp="never")
    assert output.line["level"] == "info"
    assert output.line["component"] == "virt-handler"
    assert output.line["msg"] == "seen"


def test_whatever_is_logged_stays_small(output: Output) -> None:
    nested: list[Any] = []
    for _ in range(100):
        nested = [nested]
    log.info("big", text="x" * 10**6, items=list(range(10**5)), nested=nested, blob=b"x" * 10**6)
    assert len(output.stream.getvalue()) < 10_000
    assert output.line["blob"] == "<1000000 bytes>"
    assert output.line["items"][-1] == "…"


def test_values_keep_their_json_types(output: Output) -> None:
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    log.info("all", a=1, b=1.5, c=True, d=None, e=("x", {"y": 2}), f=float("nan"), g=moment)
    line = output.line
    assert [line[key] for key in "abcdefg"] == [
        1,
        1.5,
        True,
        None,
        ["x", {"y": 2}],
        "nan",
        "2030-01-01T00:00:00+00:00",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "token",
        "bearer_token",
        "password",
        "client-key-data",
        "clientSecret",
        "private_key",
        "Authorization",
        "userData",
        "userDataBase64",
        "stringData",
    ],
)
def test_what_is_named_like_a_secret_is_not_written(output: Output, name: str) -> None:
    log.info("connected", **{name: "hunter2"})
    log.info("nested", settings={"deep": [{name: "hunter2"}]})
    assert "hunter2" not in output.stream.getvalue()


@pytest.mark.parametrize("name", ["key", "secret_name", "secretName", "token_count", "keys_held"])
def test_what_only_mentions_a_secret_is_written(output: Output, name: str) -> None:
    log.info("connected", **{name: "default/testvm"})
    assert output.line[name] == "default/testvm"


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abcdefghijklmnop.q",
        "got eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl back",
        "-----BEGIN RSA PRIVATE KEY-----\nabcdefghijklmnop\n-----END RSA PRIVATE KEY-----",
        "https://user:abcdefghijklmnop@example.org/disk.img",
    ],
)
def test_what_looks_like_a_secret_is_not_written_under_any_name(output: Output, text: str) -> None:
    log.info("fetched", note=text)
    log.error("failed", error=ValueError(text))
    logging.getLogger("aiohttp").error("library says %s", text)
    written = output.stream.getvalue()
    for secret in ("abcdefghijklmnop", "eyJhbGci", "c2lnbmF0dXJl"):
        assert secret not in written


def test_libraries_speak_through_the_same_lines(output: Output) -> None:
    logging.getLogger("aiohttp.server").error("Unhandled %s", "exception")
    logging.getLogger("asyncio").info("too chatty at this verbosity")
    line = output.line
    assert (line["msg"], line["logger"]) == ("Unhandled exception", "aiohttp.server")
    assert line["component"] == "virt-handler"


async def test_a_connection_that_asyncio_loses_twice_is_no_error_of_anybodys(
    output: Output,
) -> None:
    """A client that went away while a large answer to it was written made virt-api tell of a bug."""
    here, there = socket.socketpair()
    with there:
        transport, _ = await asyncio.get_running_loop().create_connection(
            asyncio.Protocol, sock=here
        )
        transport.abort()
        transport._call_connection_lost(None)  # type: ignore[attr-defined]  # as asyncio does
        await asyncio.sleep(0)
    assert output.lines == []
    asyncio.get_running_loop().call_soon(dict[str, str]().__getitem__, "missing")
    await asyncio.sleep(0)
    assert "KeyError" in output.line["reason"]


def test_an_error_of_the_house_that_a_library_logs_has_no_stack_trace(output: Output) -> None:
    logging.getLogger("asyncio").error("never retrieved", exc_info=UserError("too small"))
    assert output.line["reason"] == "too small"
    assert "stack" not in output.line


def test_other_values_are_written_as_people_call_them(output: Output) -> None:
    log.info("stored", path=Path("/var/lib"), size=Quantity.parse("1.5Gi"))
    assert (output.line["path"], output.line["size"]) == ("/var/lib", "1536Mi")


def test_warnings_become_lines(output: Output) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(False)
        logging.captureWarnings(True)
        warnings.warn("old habit", DeprecationWarning, stacklevel=1)
    assert "old habit" in output.line["msg"]


def test_a_terminal_gets_lines_for_the_eye_without_control_characters(
    logging_to: Callable[..., Output],
) -> None:
    output = logging_to(Terminal())
    log.info("agent answered", hostname="a\x1b[2Jb\nc", token="hunter2")
    text = output.stream.getvalue()
    assert len(text.splitlines()) == 1
    assert "agent answered" in text
    assert "\x1b[2J" not in text
    assert "hunter2" not in text


def test_a_bug_on_a_terminal_shows_its_stack_trace_line_by_line(
    logging_to: Callable[..., Output],
) -> None:
    output = logging_to(Terminal())
    log.error("failed", error=ValueError("raw \x1b[2J"))
    text = output.stream.getvalue()
    assert "\nValueError: raw" in text
    assert "\x1b[2J" not in text


def test_before_it_is_set_up_a_logger_is_plain_and_keeps_secrets(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log.bind(vmi="default/testvm").warning("odd", token="hunter2")
    log.warning("later", error=Retry("not yet"))
    assert caplog.messages == [
        "odd vmi=default/testvm token=[redacted]",
        "later reason=not yet",
    ]
    assert "Traceback" not in caplog.text


def test_closing_leaves_the_standard_library_as_it_was() -> None:
    root, house = logging.getLogger(), logging.getLogger("kubevirt")
    before = (list(root.handlers), root.level, house.level)
    configure("virt-api", 9, io.StringIO()).close()
    assert (list(root.handlers), root.level, house.level) == before


def test_asking_for_a_logger_does_not_import_structlog() -> None:
    program = (
        "import sys; from kubevirt.base.log import get_logger; get_logger('x').info('y');"
        "print([m for m in ('structlog', 'asyncio', 'rich', 'json') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_logs_for_programs_do_not_import_structlog() -> None:
    code = (
        "import io, sys; from kubevirt.base import log; log.configure('it', stream=io.StringIO());"
        "print('structlog' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
