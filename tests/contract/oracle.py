"""Answers of a real server, kept beside the tests: both servers must give the same.

A case is a request and a name. What a real server answered to it lies in `answers/AREA.json`: of an
object, only what the server made of it beyond what it was sent; of a refusal, its code, reason and
causes. `pytest tests/contract/test_AREA.py --record-answers` writes them down anew; the difference is to
be read, not believed.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

Object = dict[str, Any]
Answer = dict[str, Any]

FOLDER = Path(__file__).parent / "answers"
DRY = {"dryRun": "All"}
JSON = "application/json"
_GONE = "(gone)"
_NOT_SO = "(not so)"
_OWN = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "selfLink")
_MADE_UP = re.compile(r"(kube-api-access-)[a-z0-9]{5}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_BRIEFLY = {
    r"(may not change fields other than .*?|may not be changed|is immutable after .*?)\n.*": r"\1",
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}": "…",
    r"in record \(\d+\)": "in record (…)",
    r"Key: [^,]+,": "Key: …,",
}


class Oracle:
    """Of one area."""

    def __init__(self, area: str, client: Client, *, records: bool) -> None:
        self._path = FOLDER / f"{area}.json"
        self._client = client
        self._records = records

    async def asked(
        self,
        name: str,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = JSON,
        like: str = "",
        **params: str,
    ) -> None:
        """Fails unless the answer is the one that is written down. Of one that is much `like` another,
        only the difference is.
        """
        found = await self.answer(method, path, body, content_type=content_type, **params)
        self.hold(name, found, like)

    def hold(self, name: str, found: Answer, like: str = "") -> None:
        """Against what is written down."""
        if self._records:
            self._record(name, found, like)
        known = self._known()
        expected = known[name]
        if like and name != like:
            both = {**known[like], **expected}
            expected = {at: value for at, value in both.items() if value != _NOT_SO}
        assert found == expected, f"{name}:\n{_difference(found, expected)}"

    async def created(self, name: str, path: str, body: Any, like: str = "") -> None:
        """As if: nothing is stored."""
        await self.asked(name, "POST", path, body, like=like, **DRY)

    async def answer(
        self, method: str, path: str, body: Any, *, content_type: str = JSON, **params: str
    ) -> Answer:
        try:
            text = await self._client.raw(
                method, path, body, params=params, content_type=content_type
            )
        except ApiError as error:
            return refused(error)
        sent = body if content_type == JSON else None
        return made(msgspec.json.decode(text), sent)

    def _known(self) -> dict[str, Answer]:
        found: dict[str, Answer] = json.loads(self._path.read_text())
        return found

    def _record(self, name: str, answer: Answer, like: str) -> None:
        known = self._known() if self._path.exists() else {}
        if like and name != like:
            base = known[like]
            missing = {at: _NOT_SO for at in base if at not in answer}
            answer = {at: value for at, value in answer.items() if base.get(at, _NOT_SO) != value}
            answer |= missing
        known[name] = answer
        self._path.write_text(
            json.dumps(known, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        )


def _difference(found: Answer, expected: Answer) -> str:
    return "\n".join(
        f"  {at}\n    found    {found.get(at, _GONE)!r}\n    expected {expected.get(at, _GONE)!r}"
        for at in sorted(found | expected)
        if found.get(at, _GONE) != expected.get(at, _GONE)
    )


def refused(error: ApiError) -> Answer:
    status = error.status
    message = _brief(status.message)
    causes = sorted(
        {f"{each.reason} {each.field}: {_brief(each.message)}" for each in error.causes}
    )
    # The message repeats the causes, in any order.
    subject = message.partition(" is invalid: ")[0]
    return {
        "code": status.code,
        "reason": status.reason,
        "message": subject if causes else message,
        "causes": causes,
    }


def _brief(text: str) -> str:
    """Without Go's picture of two structs, and what is another every time."""
    for pattern, words in _BRIEFLY.items():
        text = re.sub(pattern, words, text, flags=re.DOTALL)
    return text


def made(answer: Any, sent: Any = None) -> Answer:
    """What a server made of an object, by path."""
    found = dict(_leaves(_plain(answer)))
    said = dict(_leaves(_plain(sent))) if sent else {}
    gone = {path: _GONE for path in said if path not in found and not _has_more(path, found)}
    new = {path: value for path, value in found.items() if said.get(path, _GONE) != value}
    return {path: new.get(path, gone.get(path)) for path in sorted(new | gone)}


def _has_more(path: str, found: Mapping[str, Any]) -> bool:
    """Whether something came into what was empty."""
    return any(each.startswith((f"{path}.", f"{path}[")) for each in found)


def _plain(object_: Object) -> Object:
    metadata = object_.get("metadata") or {}
    kept = {name: value for name, value in metadata.items() if name not in _OWN}
    return {**object_, "metadata": kept}


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for name, child in value.items():
            yield from _leaves(child, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value:
        for at, child in enumerate(value):
            yield from _leaves(child, f"{path}[{at}]")
    else:
        yield path, _constant(value)


def _constant(value: Any) -> Any:
    """Without what is another every time."""
    if not isinstance(value, str):
        return value
    return "(a time)" if _TIME.fullmatch(value) else _MADE_UP.sub(r"\1…", value)
