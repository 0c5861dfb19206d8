"""Equal texts of many objects are held once, and nobody can tell."""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from kubevirt.kube.cache.sharing import PLACES, Sharing


class Bulb(msgspec.Struct, frozen=True):
    maker: str = ""
    watts: int = 0


class Lamp(msgspec.Struct, frozen=True):
    name: str
    room: str | None = None
    tags: tuple[str, ...] = ()
    labels: Mapping[str, str] = {}
    bulbs: tuple[Bulb, ...] = ()
    spare: Bulb | None = None
    sizes: tuple[int | str, ...] = ()


LAMP = (
    b'{"name": "desk", "room": "study at home", "tags": ["old one", "big one"],'
    b' "labels": {"colour": "deep red"}, "bulbs": [{"maker": "Bright and Sons", "watts": 7}],'
    b' "spare": {"maker": "Bright and Sons"}, "sizes": ["ten by two", 7]}'
)


def decoded() -> Lamp:
    return msgspec.json.decode(LAMP, type=Lamp)


def test_equal_texts_of_two_objects_become_one() -> None:
    sharing = Sharing()
    one, other = decoded(), decoded()
    assert one.room is not other.room
    sharing.share(one)
    sharing.share(other)
    assert one.spare
    assert other.spare
    assert one.room is other.room
    assert one.tags[1] is other.tags[1]
    assert one.labels["colour"] is other.labels["colour"]
    assert one.bulbs[0].maker is other.bulbs[0].maker is other.spare.maker


def test_a_shared_object_is_what_it_was() -> None:
    thing = decoded()
    Sharing().share(thing)
    assert thing == decoded()
    assert msgspec.json.encode(thing) == msgspec.json.encode(decoded())


def test_the_pool_does_not_grow_with_texts_that_never_repeat() -> None:
    sharing = Sharing()
    for number in range(3 * PLACES):
        sharing.share(Bulb(maker=f"maker number {number}"))
    assert len(sharing._places) == PLACES


def test_texts_that_repeat_survive_among_those_that_do_not() -> None:
    sharing = Sharing()
    bulbs = []
    for number in range(2000):
        bulb = msgspec.json.decode(b'{"maker": "Bright and Sons"}', type=Bulb)
        sharing.share(bulb)
        bulbs.append(bulb)
        sharing.share(Bulb(maker=f"maker number {number}"))
    assert len({id(bulb.maker) for bulb in bulbs}) < 10


def test_what_cannot_be_changed_is_left_alone() -> None:
    sharing = Sharing()
    sharing.share({"name": "desk"})
    labels = MappingProxyType({"colour": "red"})
    sharing.share(Lamp("desk", labels=labels))
    sharing.share(Lamp("hall", labels=labels))
    assert labels == {"colour": "red"}
