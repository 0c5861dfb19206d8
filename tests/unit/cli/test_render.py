"""How steps, conditions and findings look."""

import json

import msgspec
import pytest

from kubevirt.base.boot import boot_id
from kubevirt.cli.render import condition as conditions
from kubevirt.cli.render import findings, steps
from kubevirt.embedded.doctor.finding import missing, note, ok, warning
from kubevirt.embedded.home import Process
from kubevirt.embedded.process.condition import Condition, NodeCondition, State
from kubevirt.embedded.process.progress import Began, Done, Listener, Ready
from kubevirt.embedded.programs.sighted import Sighted

EVENTS = (
    Began(step="API server"),
    Done(step="API server", detail="https://127.0.0.1:6443", took_s=0.42),
    Ready(url="https://127.0.0.1:6443", kubeconfig="/k", nodes=("node01",), took_s=1.0),
)
PROCESS = Process(
    pid=7,
    boot_id="b",
    url="https://127.0.0.1:6443",
    port=6443,
    nodes=("node01",),
    version="1",
    started="2030-01-01T00:00:00+00:00",
)


def shown(listener: Listener, capsys: pytest.CaptureFixture[str]) -> str:
    for event in EVENTS:
        listener.hear(event)
    out, err = capsys.readouterr()
    assert out == ""
    return err


def test_a_log_gets_one_plain_line_for_a_step(capsys: pytest.CaptureFixture[str]) -> None:
    told = shown(steps.listener("auto"), capsys)
    assert told == "API server: https://127.0.0.1:6443 (0.4 s)\n"


def test_a_terminal_gets_ticks_and_times(capsys: pytest.CaptureFixture[str]) -> None:
    told = shown(steps.Ticks(), capsys)
    assert "• API server …" in told
    assert "✓ API server" in told
    assert "0.4 s\n" in told


def test_a_program_gets_json(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [json.loads(line) for line in shown(steps.listener("json"), capsys).splitlines()]
    assert [each["type"] for each in lines] == ["began", "done", "ready"]
    assert lines[1]["tookS"] == 0.42


def condition(state: State, **more: object) -> Condition:
    return Condition(home="/h", state=state, log="/h/log", **more)  # type: ignore[arg-type]


def test_a_home_that_is_up_shows_its_nodes_and_pods() -> None:
    nodes = (
        NodeCondition(name="node01", is_ready=True),
        NodeCondition(name="node02", is_ready=False, message="it sleeps"),
    )
    text = conditions.as_text(
        condition(State.UP, process=PROCESS, nodes=nodes, pods={"Failed": 1, "Running": 2})
    )
    assert "node01      ready\n" in text
    assert "node02      not ready: it sleeps\n" in text
    assert "pods        1 Failed, 2 Running\n" in text


def test_programs_that_are_processes_of_their_own_show_their_numbers() -> None:
    programs = (
        Sighted(name="virt-api", pid=11, memory_bytes=50 << 20),
        Sighted(name="virt-handler-node01", pid=12, memory_bytes=60 << 20),
    )
    text = conditions.as_text(condition(State.UP, process=PROCESS, programs=programs))
    assert "virt-api             process 11, 50 MiB\n" in text
    assert "virt-handler-node01  process 12, 60 MiB\n" in text


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (State.ABSENT, "there is no embedded home"),
        (State.DOWN, "down; bring it up with"),
        (State.DIED, "its process died"),
        (State.STARTING, "starting"),
        (State.STOPPING, "stopping"),
        (State.SILENT, "does not answer: it is deaf"),
    ],
)
def test_a_home_that_is_not_up_says_what_to_do(state: State, words: str) -> None:
    process = msgspec.structs.replace(PROCESS, boot_id=boot_id())
    assert words in conditions.as_text(condition(state, process=process, trouble="it is deaf"))


def test_a_restart_of_the_machine_is_no_death() -> None:
    assert "the machine was restarted" in conditions.as_text(condition(State.DIED, process=PROCESS))


def test_a_condition_is_json_for_programs() -> None:
    found = json.loads(conditions.as_json(condition(State.UP, process=PROCESS)))
    assert found["state"] == "up"
    assert found["process"]["pid"] == 7


def test_findings_have_marks_and_a_summary() -> None:
    told = [ok("a", "fine"), note("b", "so it is"), warning("c", "odd", "mend it")]
    assert findings.as_text(told).splitlines() == [
        " ✓ a  fine",
        " · b  so it is",
        " ! c  odd; mend it",
        "",
        "nothing is missing; 1 to look at",
    ]
    assert findings.as_text([ok("a", "fine")]).endswith("all is well")
    assert "1 missing" in findings.as_text([*told, missing("d", "not there", "get it")])


def test_findings_are_json_for_programs() -> None:
    found = json.loads(findings.as_json([missing("d", "not there", "get it")]))
    assert found == [{"name": "d", "verdict": "missing", "cause": "not there", "wayOut": "get it"}]
