"""From what was measured to what is printed."""

from pathlib import Path

from bench import result, table
from bench.contest import KUBERNETES, OURS, ListRun, WatchRun, client_go
from bench.process import Memory
from bench.result import Result, Target
from bench.server import Server

PROGRAM = Path("/cache/client-go-informer")
GO = client_go(PROGRAM, "full", "client-go, every field")
DRAIN = client_go(PROGRAM, "nothing", "the server alone")


def a_memory(anonymous: int) -> Memory:
    return Memory(anonymous=anonymous, rss=anonymous, pss=anonymous, peak_rss=2 * anonymous)


def a_list(seconds: float, bytes_each: int) -> ListRun:
    return ListRun(
        seconds=seconds,
        cpu_seconds=seconds / 2,
        objects=100,
        before=a_memory(5_000),
        after=a_memory(5_000 + 100 * bytes_each),
    )


def a_result() -> Result:
    lists = {
        OURS.name: [a_list(1.0, 4_000), a_list(9.0, 4_000), a_list(1.1, 4_000)],
        KUBERNETES.name: [a_list(4.0, 25_000)],
        GO.name: [a_list(0.4, 10_000)],
        DRAIN.name: [a_list(0.3, 0)],
    }
    watch = WatchRun(seconds=2.0, cpu_seconds=1.0, events=3_000)
    return Result(
        contenders=[OURS, KUBERNETES, GO, DRAIN],
        client_go=GO,
        server_alone=DRAIN,
        lists=lists,
        watches={name: [watch] for name in lists},
        queues={"one key, 1 worker": {"ours": [1e5], "go": [1e6]}},
    )


def test_a_target_compares_the_best_rounds_of_one_run() -> None:
    found = {each.what: each for each in result.targets(a_result())}
    memory = found["memory per cached VMI, of client-go's full object"]
    assert memory.found == 0.4
    assert memory.is_reached
    # The disturbed round of 9 s does not count.
    assert found["list to synced, of kubernetes' time"].found == 1.0 / 4.0
    assert not found["list to synced, of client-go's time"].is_reached


def test_a_target_below_the_time_of_the_server_is_called_what_it_is() -> None:
    assert Target("list to synced", 0.3, found=0.6, floor=0.5).verdict.endswith("takes longer")
    assert Target("list to synced", 0.3, found=0.6, floor=0.2).verdict == "MISSED"
    assert Target("list to synced", 0.3, found=0.2, floor=0.1).verdict == "reached"


def test_the_table_lines_up_and_names_what_was_missed(a_server: Server) -> None:
    lines = table.render(a_result(), a_server).splitlines()
    head, rule, ours = lines[0], lines[1], lines[2]
    assert len(head) == len(ours) == len(rule)
    assert ours.split()[-6:] == ["1.00", "0.50", "4000", "1", "1500", "333"]
    assert sum(line.endswith("MISSED") for line in lines) == 1


def test_the_server_alone_has_no_memory_of_objects(a_server: Server) -> None:
    lines = table.render(a_result(), a_server).splitlines()
    drained = next(line for line in lines if line.startswith("the server alone"))
    assert drained.split()[-4:] == ["0.30", "0.15", "1500", "333"]


def test_the_kept_result_has_every_round(a_server: Server) -> None:
    kept = result.as_json(a_result(), a_server, {"cores": 2})
    assert [run["seconds"] for run in kept["lists"][OURS.name]] == [1.0, 9.0, 1.1]
    assert kept["machine"] == {"cores": 2}
    assert kept["targets"][0]["reached"] is True
