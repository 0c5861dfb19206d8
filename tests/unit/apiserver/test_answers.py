"""Answers are written once for all who want the same."""

import msgspec

from kubevirt.apiserver.http import answers, media
from kubevirt.apiserver.http.answers import Answers
from kubevirt.apiserver.http.media import Form
from kubevirt.apiserver.kinds import builtin
from kubevirt.apiserver.refusals import no_such_path
from kubevirt.apiserver.registry.results import Many
from kubevirt.apiserver.registry.watching import Mark, Sight
from kubevirt.apiserver.storage.records import Entry
from kubevirt.base.clock import SystemClock

MAPS = next(each for each in builtin.kinds() if each.names.plural == "configmaps")
VALUE = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"},"data":{"a":"b"}}'


def written(form: Form | None = None) -> Answers:
    return Answers(MAPS, MAPS.versions[0], form or Form(), SystemClock())


def test_an_event_is_written_once_for_all_watchers() -> None:
    shared = written()
    first = shared._frame(Sight("ADDED", VALUE, 5))
    assert shared._frame(Sight("ADDED", VALUE, 5)) is first
    assert shared._frame(Sight("DELETED", VALUE, 5)) is not first
    event = msgspec.json.decode(first)
    assert event["type"] == "ADDED"
    assert event["object"]["metadata"] == {"name": "one", "resourceVersion": "5"}


def test_written_events_are_forgotten_before_they_fill_the_memory() -> None:
    shared = written()
    large = VALUE[:-2] + b',"x":"%b"}}' % (b"x" * 100_000)
    for revision in range(1, 100):
        shared._frame(Sight("ADDED", large, revision))
    assert sum(map(len, shared._frames.values())) <= answers.FRAMES_BYTES


def test_a_bookmark_says_only_how_far() -> None:
    [frame] = written().frames([Mark(7, is_end_of_initial=True)]).splitlines()
    assert msgspec.json.decode(frame) == {
        "type": "BOOKMARK",
        "object": {
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {
                "resourceVersion": "7",
                "annotations": {"k8s.io/initial-events-end": "true"},
            },
        },
    }


def test_a_list_is_its_items_side_by_side() -> None:
    entries = [Entry("/one", VALUE, 5, 5), Entry("/two", VALUE, 6, 6)]
    page = Many(entries=entries, revision=9, continue_="next", remaining=3)
    found = msgspec.json.decode(written().many(page))
    assert found["kind"] == "ConfigMapList"
    assert found["metadata"] == {
        "resourceVersion": "9",
        "continue": "next",
        "remainingItemCount": 3,
    }
    assert [each["metadata"]["resourceVersion"] for each in found["items"]] == ["5", "6"]
    partial = written(Form(kind=media.PARTIAL_LIST, version="v1")).many(page)
    found = msgspec.json.decode(partial)
    assert found["kind"] == "PartialObjectMetadataList"
    assert "data" not in found["items"][0]


def test_a_refusal_about_nothing_has_empty_details() -> None:
    found = answers.status(no_such_path().status)
    assert found["details"] == {}
    assert (found["kind"], found["code"]) == ("Status", 404)
