"""Our work queue: how many keys it brings through in a second.

A worker takes a key, gives it back and adds it again. With one worker nothing is awaited in between;
with more, each yields once per key as a reconcile would, because else the first did all the work.
"""

import argparse
import asyncio
import time

from bench.protocol import tell
from kubevirt.base.clock import SystemClock
from kubevirt.kube.key import Key
from kubevirt.kube.queue import QueueClosed, WorkQueue


async def work(queue: WorkQueue[Key], left: list[int], *, yields: bool) -> None:
    while True:
        try:
            key = await queue.get()
        except QueueClosed:
            return
        if yields:
            await asyncio.sleep(0)
        queue.forget(key)
        queue.done(key)
        left[0] -= 1
        if left[0] > 0:
            queue.add(key)
        else:
            queue.close(drop=True)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--handle", type=int, required=True)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--keys", type=int, default=1)
    asked = parser.parse_args()
    queue: WorkQueue[Key] = WorkQueue("bench", SystemClock())
    for number in range(asked.keys):
        queue.add(Key(f"tenant-{number % 20:02d}", f"web-frontend-{number:05d}"))
    left = [asked.handle]
    began = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(asked.workers):
            tasks.create_task(work(queue, left, yields=asked.workers > 1))
    tell("done", seconds=time.perf_counter() - began)


if __name__ == "__main__":
    asyncio.run(main())
