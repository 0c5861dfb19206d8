"""A server that is asked anything, and whether its answers are ones that Kubernetes gives, too."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec
from tests.contract.failures import explained

from kubevirt.apiserver.auth.access import AccessSettings
from kubevirt.apiserver.auth.authority import signing_key
from kubevirt.apiserver.server import ADMINISTRATOR, ApiServer, ServerSettings, serving

TOKEN: Final = "admin"
_LATE: Final = re.compile(r"(Timeout: )?Too large resource version: \d+, current: \d+")
"""504: a version of the future that did not come."""


@asynccontextmanager
async def whole_server(folder: Path) -> AsyncIterator[ApiServer]:
    """One that has all endpoints, those of tokens and reviews too."""
    access = AccessSettings(signing_key=signing_key(), known_tokens={TOKEN: ADMINISTRATOR})
    async with serving(ServerSettings(data=folder / "store.db", access=access)) as server:
        yield server


def check_refusal(method: str, path: str, code: int, body: bytes) -> None:
    """Of an answer that is none of success: a whole Status, and no mistake but one that Kubernetes makes, too."""
    status = msgspec.json.decode(body)
    asked = (method, path, status)
    assert (status["kind"], status["status"], status["code"]) == ("Status", "Failure", code), asked
    assert status["message"], asked
    match code:
        case 500:
            assert explained(method, path, status["message"]), asked
        case 504:
            assert _LATE.fullmatch(status["message"]), asked
        case _:
            assert code < 500, asked
            assert status["reason"], asked
