"""What the embedded API server promises, and which test holds it to that; rendered into docs/apiserver.md.

    python -m tests.contract.nouns

A test is named by its file below tests/contract, where it runs on both servers, or below tests/ where
only ours has such a thing to prove: a store, a memory, a death.
`tests/unit/apiserver/test_nouns.py` fails if a noun has no test, a test does not exist, or the page is old.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from tests.contract import not_yet
from tests.contract.noun_tables import access, kinds, objects, store

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/apiserver.md"
BEGIN, END = "<!-- begin: written by tests.contract.nouns -->", "<!-- end -->"
_BOTH = PurePosixPath("tests/contract")
_OURS = ("component", "property", "unit")

PARTS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "Store": store.STORE,
    "Verbs": objects.VERBS,
    "Objects": objects.OBJECTS,
    "Representation": objects.REPRESENTATION,
    "CRDs": objects.CRDS,
    "Built-in kinds": kinds.BUILT_IN_KINDS,
    "Who may": access.WHO_MAY,
    "Admission": access.ADMISSION,
    "Aggregation": access.AGGREGATION,
    "Bounds": store.BOUNDS,
    "Peers": kinds.PEERS,
}
"""In the words and the order of the work item."""


def file_of(test: str) -> PurePosixPath:
    """Where a test is, from the root of the repository."""
    file = PurePosixPath(f"{test.partition('::')[0]}.py")
    return PurePosixPath("tests") / file if file.parts[0] in _OURS else _BOTH / file


def runs_on_both(test: str) -> bool:
    is_of_kubernetes = test.rpartition("::")[2] in not_yet.NOT_YET
    return file_of(test).is_relative_to(_BOTH) and not is_of_kubernetes


def rendered() -> str:
    """The part of the page between its marks."""
    return "\n".join([BEGIN, "", *_lines(), END])


def _lines() -> Iterator[str]:
    for part, nouns in PARTS.items():
        yield from (
            f"### {part}",
            "",
            "| noun | held to both servers by | seen on one of them by |",
        )
        yield "|---|---|---|"
        for noun, tests in nouns.items():
            both = [test for test in tests if runs_on_both(test)]
            ours = [test for test in tests if not runs_on_both(test)]
            yield f"| {noun} | {_shown(both)} | {_shown(ours)} |"
        yield ""


def _shown(tests: Sequence[str]) -> str:
    return "<br>".join(f"[`{test.rpartition('::')[2]}`](../{file_of(test)})" for test in tests)


def page_with_table(page: str) -> str:
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + rendered() + after


if __name__ == "__main__":
    PAGE.write_text(page_with_table(PAGE.read_text()))
