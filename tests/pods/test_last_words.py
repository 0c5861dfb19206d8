"""Termination messages: what a container leaves behind in its status."""

from tests.pods.objects import a_pod, ended
from tests.pods.place import Place


async def test_the_message_is_what_the_container_wrote_to_its_file(place: Place) -> None:
    pod = await place.finish(a_pod("writer", "printf 'all is well' >/dev/termination-log"))
    assert ended(pod)["message"] == "all is well"


async def test_the_file_may_have_another_name(place: Place) -> None:
    container = {"terminationMessagePath": "/tmp/last-words"}
    pod = await place.finish(
        a_pod("other", "printf bye >/tmp/last-words; exit 2", container=container)
    )
    assert ended(pod)["message"] == "bye"
    assert ended(pod)["exitCode"] == 2


async def test_a_long_message_is_cut(place: Place) -> None:
    script = "dd if=/dev/zero bs=1000 count=9 | tr '\\0' x >/dev/termination-log"
    pod = await place.finish(a_pod("wordy", script))
    assert ended(pod)["message"] == "x" * 4096


async def test_the_end_of_the_log_stands_in_for_a_message_after_a_failure(place: Place) -> None:
    container = {"terminationMessagePolicy": "FallbackToLogsOnError"}
    pod = await place.finish(a_pod("failed", "echo it broke; exit 1", container=container))
    assert ended(pod)["message"] == "it broke\n"


async def test_the_log_is_no_message_after_a_good_end(place: Place) -> None:
    container = {"terminationMessagePolicy": "FallbackToLogsOnError"}
    pod = await place.finish(a_pod("fine", "echo it went well", container=container))
    assert "message" not in ended(pod)


async def test_a_message_of_the_containers_own_is_better_than_its_log(place: Place) -> None:
    container = {"terminationMessagePolicy": "FallbackToLogsOnError"}
    script = "echo log; printf own >/dev/termination-log; exit 1"
    pod = await place.finish(a_pod("both", script, container=container))
    assert ended(pod)["message"] == "own"


async def test_without_either_there_is_no_message(place: Place) -> None:
    pod = await place.finish(a_pod("silent", "echo log; exit 1"))
    assert "message" not in ended(pod)
