"""Answers are written once for all who want the same."""

from collections.abc import AsyncGenerator

import msgspec
import pytest
import yaml

from kubevirt.apiserver.http import answers, lists, media
from kubevirt.apiserver.http.answers import Answers
from kubevirt.apiserver.http.frames import Frames
from kubevirt.apiserver.http.media import Form
from kubevirt.apiserver.kinds import builtin
from kubevirt.apiserver.refusals import no_such_path
from kubevirt.apiserver.registry.results import Flowing, Rest
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
    """Whatever kinds and forms they are of."""
    frames = Frames(10_000)
    large = VALUE[:-2] + b',"x":"%b"}}' % (b"x" * 1000)
    for form in (Form(), Form(kind=media.PARTIAL, version="v1")):
        shared = Answers(MAPS, MAPS.versions[0], form, SystemClock(), frames)
        for revision in range(1, 100):
            shared._frame(Sight("ADDED", large, revision))
    assert sum(map(len, frames._frames.values())) <= 10_000
    assert len(frames._frames) > 5


def test_events_go_out_in_pieces() -> None:
    """So that what a slow watcher has not taken is little, however much has happened."""
    large = VALUE[:-2] + b',"x":"%b"}}' % (b"x" * 30_000)
    sights = [Sight("ADDED", large, revision) for revision in range(1, 21)]
    pieces = list(written().frames(sights))
    assert all(len(piece) < answers.PIECE_BYTES + 40_000 for piece in pieces)
    assert len(b"".join(pieces).splitlines()) == 20
    assert list(written().frames([])) == []


def test_a_bookmark_says_only_how_far() -> None:
    [frame] = written().frames([Mark(7, is_end_of_initial=True)])
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


async def listed(result: Flowing, form: Form | None = None) -> bytes:
    form = form or Form()
    return b"".join([each async for each in lists.pieces(result, written(form), form.media)])


async def flowing(*pieces: list[Entry]) -> AsyncGenerator[list[Entry], None]:
    for piece in pieces:
        yield piece


async def paging(rest: Rest, *pieces: list[Entry]) -> AsyncGenerator[list[Entry], None]:
    """Says what it leaves when it ends."""
    for piece in pieces:
        yield piece
    rest.continue_, rest.remaining = "next", 3


async def test_a_list_is_its_items_side_by_side() -> None:
    entries = [Entry("/one", VALUE, 5, 5), Entry("/two", VALUE, 6, 6)]
    found = msgspec.json.decode(await listed(Flowing(pieces=flowing(entries), revision=9)))
    assert found["kind"] == "ConfigMapList"
    assert found["metadata"] == {"resourceVersion": "9"}
    assert [each["metadata"]["resourceVersion"] for each in found["items"]] == ["5", "6"]
    form = Form(kind=media.PARTIAL_LIST, version="v1")
    found = msgspec.json.decode(await listed(Flowing(pieces=flowing(entries), revision=9), form))
    assert found["kind"] == "PartialObjectMetadataList"
    assert "data" not in found["items"][0]


FORMS = [
    Form(type_, kind, "v1" if kind else "")
    for type_ in (media.JSON, media.YAML)
    for kind in ("", media.TABLE, media.PARTIAL_LIST)
]


@pytest.mark.parametrize("form", FORMS, ids=str)
async def test_a_list_that_comes_in_pieces_is_the_same_list(form: Form) -> None:
    entries = [Entry(f"/{number}", VALUE, number, number) for number in range(1, 151)]
    whole = await listed(Flowing(pieces=flowing(entries), revision=200), form)
    pieces = flowing(entries[:1], [], entries[1:100], entries[100:])
    assert await listed(Flowing(pieces=pieces, revision=200), form) == whole
    found = yaml.safe_load(whole)
    assert len(found["rows" if form.kind == media.TABLE else "items"]) == 150
    empty = yaml.safe_load(await listed(Flowing(pieces=flowing([]), revision=1), form))
    assert empty["rows" if form.kind == media.TABLE else "items"] == []


@pytest.mark.parametrize("form", FORMS, ids=str)
async def test_a_short_page_says_first_what_it_leaves_and_a_long_one_last(form: Form) -> None:
    items = "rows" if form.kind == media.TABLE else "items"
    entries = [Entry(f"/{number}", VALUE, number, number) for number in range(1, 2001)]
    for count in (0, 3, len(entries)):
        rest = Rest()
        pieces = [entries[start : min(start + 64, count)] for start in range(0, count, 64)]
        page = Flowing(pieces=paging(rest, *pieces), revision=9, rest=rest)
        text = await listed(page, form)
        found = yaml.safe_load(text)
        assert len(found[items]) == count
        assert found["metadata"] == {
            "resourceVersion": "9",
            "continue": "next",
            "remainingItemCount": 3,
        }
        if form.media == media.JSON:
            assert (text.index(b"remaining") < 200) is (count < len(entries))


def test_a_refusal_about_nothing_has_empty_details() -> None:
    found = answers.status(no_such_path().status)
    assert found["details"] == {}
    assert (found["kind"], found["code"]) == ("Status", 404)
