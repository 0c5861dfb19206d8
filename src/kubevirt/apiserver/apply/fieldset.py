"""Sets of fields: trees of path steps, with the algebra of structured-merge-diff.

    fields = FieldSet.from_json({"f:spec": {"f:replicas": {}, "f:ports": {".": {}, 'k:{"port":80}': {}}}})
    fields.has("f:spec", "f:replicas")          True
    fields.has("f:spec")                        False: only fields below it are in the set

A node knows which of its steps are members and which have members below; a step may be both. Sets
are values: an operation gives a new set that may share nodes with the old ones, and only builders
change a set that nobody else has seen yet.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Self

from kubevirt.apiserver.apply import elements

Path = tuple[str, ...]


class FieldSet:
    __slots__ = ("children", "members")

    def __init__(
        self, members: set[str] | None = None, children: dict[str, "FieldSet"] | None = None
    ) -> None:
        self.members: set[str] = set() if members is None else members
        self.children: dict[str, FieldSet] = {} if children is None else children
        """Never holds an empty set."""

    @classmethod
    def of(cls, *paths: Path) -> Self:
        made = cls()
        for path in paths:
            made.insert(path)
        return made

    def insert(self, path: Path) -> None:
        """For builders. The empty path is the whole object, which nobody owns."""
        if not path:
            return
        node = self
        for step in path[:-1]:
            found = node.children.get(step)
            if found is None:
                found = node.children[step] = FieldSet()
            node = found
        node.members.add(path[-1])

    # Questions

    def __bool__(self) -> bool:
        return bool(self.members or self.children)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, FieldSet)
            and self.members == other.members
            and self.children == other.children
        )

    __hash__ = None  # type: ignore[assignment]  # a builder may still change it

    def __repr__(self) -> str:
        return f"FieldSet({self.to_json()!r})"

    def has(self, *path: str) -> bool:
        node = self
        for step in path[:-1]:
            found = node.children.get(step)
            if found is None:
                return False
            node = found
        return bool(path) and path[-1] in node.members

    def below(self, step: str) -> "FieldSet":
        return self.children.get(step, EMPTY)

    def paths(self, prefix: Path = ()) -> Iterator[Path]:
        """All members in Kubernetes' order: those of a node before those below it."""
        for step in sorted(self.members, key=elements.order):
            yield (*prefix, step)
        for step in sorted(self.children, key=elements.order):
            yield from self.children[step].paths((*prefix, step))

    def covers(self, other: "FieldSet") -> bool:
        """Every member of the other is one of this."""
        if not other.members <= self.members:
            return False
        mine = self.children
        return all(
            step in mine and mine[step].covers(below) for step, below in other.children.items()
        )

    # Algebra

    def __or__(self, other: "FieldSet") -> "FieldSet":
        if not other:
            return self
        if not self:
            return other
        children = dict(self.children)
        for step, theirs in other.children.items():
            mine = children.get(step)
            children[step] = theirs if mine is None else mine | theirs
        return FieldSet(self.members | other.members, children)

    def __and__(self, other: "FieldSet") -> "FieldSet":
        children = {}
        theirs = other.children
        for step, mine in self.children.items():
            if step in theirs and (both := mine & theirs[step]):
                children[step] = both
        return FieldSet(self.members & other.members, children)

    def __sub__(self, other: "FieldSet") -> "FieldSet":
        """Without the members of the other. A parent keeps its children: they are fields of their own."""
        if not other:
            return self
        children = {}
        theirs = other.children
        for step, mine in self.children.items():
            if step not in theirs:
                children[step] = mine
            elif left := mine - theirs[step]:
                children[step] = left
        return FieldSet(self.members - other.members, children)

    def without(self, other: "FieldSet") -> "FieldSet":
        """Without the members of the other and everything below them."""
        if not other:
            return self
        children = {}
        for step, mine in self.children.items():
            if step in other.members:
                continue
            theirs = other.children.get(step)
            left = mine if theirs is None else mine.without(theirs)
            if left:
                children[step] = left
        return FieldSet(self.members - other.members, children)

    # FieldsV1

    @classmethod
    def from_json(cls, source: Mapping[str, Any]) -> "FieldSet":
        """Raises `BadElement`. A top-level `.` means nothing: nobody owns the whole object."""
        return _read(source)[0]

    def to_json(self) -> dict[str, Any]:
        written: dict[str, Any] = {}
        members, children = self.members, self.children
        for step in sorted({*members, *children}) if children else sorted(members):
            below = children.get(step)
            if below is None:
                written[step] = {}
            elif step in members:
                written[step] = {".": {}, **below.to_json()}
            else:
                written[step] = below.to_json()
        return written


EMPTY: Final = FieldSet()


def _read(source: Mapping[str, Any]) -> tuple[FieldSet, bool]:
    """The set below a step, and whether the step itself is a member."""
    node = FieldSet()
    is_member = False
    members, children = node.members, node.children
    for text, inner in source.items():
        if text == ".":
            is_member = True
            continue
        step = text if text.startswith("f:") else elements.parse(text)
        if step is None:
            continue  # a future kind of step: not kept, since nobody here understands it
        if not inner:
            members.add(step)
            continue
        below, also_member = _read(inner)
        if also_member:
            members.add(step)
        if below:
            children[step] = below
    return node, is_member or not node
