"""The mailbox between libvirt's thread and asyncio: ordered, bounded, honest about what it dropped."""

import asyncio
import threading

from kubevirt.host.libvirt.events import Event, Mailbox, Missed, Rebooted


def numbered(count: int) -> list[Event]:
    return [Rebooted(domain=f"{number}") for number in range(count)]


async def gathered(mailbox: Mailbox) -> list[Event]:
    async with asyncio.timeout(10):
        return [event async for event in mailbox]


async def test_events_of_another_thread_come_in_order() -> None:
    mailbox = Mailbox()
    events = numbered(200)

    def fill() -> None:
        for event in events:
            mailbox.put(event)
        mailbox.close()

    thread = threading.Thread(target=fill)
    thread.start()
    assert await gathered(mailbox) == events
    thread.join()


async def test_a_full_mailbox_drops_the_oldest_and_says_so() -> None:
    mailbox = Mailbox(size=3)
    events = numbered(10)
    for event in events:
        mailbox.put(event)
    mailbox.close()
    missed, *rest = await gathered(mailbox)
    assert isinstance(missed, Missed)
    assert rest == events[-3:]


async def test_a_reader_who_stopped_finds_the_rest_later() -> None:
    mailbox = Mailbox()
    first, second = numbered(2)
    mailbox.put(first)
    mailbox.put(second)
    async for event in mailbox:
        assert event == first
        break
    async with asyncio.timeout(10):
        assert await anext(mailbox) == second


async def test_a_closed_mailbox_gives_what_it_has_and_then_ends_for_everybody() -> None:
    mailbox = Mailbox()
    (event,) = numbered(1)
    mailbox.put(event)
    mailbox.close()
    mailbox.put(event)
    assert await gathered(mailbox) == [event]
    assert await gathered(mailbox) == []


async def test_a_flood_wakes_the_loop_once() -> None:
    mailbox = Mailbox(size=10)
    loop = asyncio.get_running_loop()
    await asyncio.sleep(0)
    before = len(loop._ready)  # type: ignore[attr-defined]  # what a flood must not fill
    for event in numbered(10_000):
        mailbox.put(event)
    assert len(loop._ready) - before <= 1  # type: ignore[attr-defined]
    mailbox.close()
    assert len(await gathered(mailbox)) == 11
