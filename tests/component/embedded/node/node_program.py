"""A node as a program of its own, to be killed: FOLDER URL KEEPER."""

import asyncio
import sys
from pathlib import Path

from tests.component.embedded.node import world


async def main() -> None:
    folder, url, keeper = sys.argv[1:]
    async with world.node(Path(folder), url, Path(keeper)):
        print("up", flush=True)  # noqa: T201  # for the test
        await asyncio.Event().wait()


asyncio.run(main())
