"""A websocket, and at its other end a command in a container, or what the container says.

Each direction waits for the slower side. A client that goes away ends the command, also when the command
does not read what the client has sent: then nobody looks at the connection, so the kernel is asked.
"""

import select
from collections.abc import Sequence
from contextlib import suppress

from aiohttp import web

from kubevirt.base.errors import Retry
from kubevirt.base.tasks import Latch, background, first_of
from kubevirt.embedded.node.endpoint import outcomes
from kubevirt.embedded.node.endpoint.channels import (
    CLOSE_S,
    MESSAGE_LIMIT,
    PROTOCOLS,
    Channel,
    Channels,
    Input,
    InputEnded,
    Resized,
)
from kubevirt.embedded.node.endpoint.refusals import NotServed
from kubevirt.embedded.runtime import logs
from kubevirt.embedded.runtime.attaching import Ear
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.ends import End, readable
from kubevirt.embedded.runtime.growth import Growth
from kubevirt.embedded.runtime.joining import Joined, Streams, joined
from kubevirt.embedded.runtime.keeper import Keeper
from kubevirt.embedded.runtime.log_lines import Wanted


async def command(
    request: web.BaseRequest,
    attempt: Attempt,
    keeper: Keeper,
    words: Sequence[str],
    streams: Streams,
) -> web.StreamResponse:
    """Runs it in the container that an attempt is."""
    socket = await _opened(request, streams)
    channels = Channels(socket)
    try:
        async with joined(attempt, keeper, words, streams) as found:
            code = await first_of(
                _ended(channels, found), _listened(channels, found), _hung_up(request)
            )
        outcome = None if code is None else outcomes.ended(code, words)
    except Retry as error:
        outcome = outcomes.not_started(str(error))
    await _closed(channels, outcome)
    return socket


async def attachment(
    request: web.BaseRequest, attempt: Attempt, streams: Streams, ear: Ear, growth: Growth
) -> web.StreamResponse:
    """What a container says from now on, a line at a time: it comes from its log. What is said to it goes
    in as soon as its answer would be heard.
    """
    socket = await _opened(request, streams)
    channels = Channels(socket)
    wanted = {Channel.STDOUT: streams.stdout, Channel.STDERR: streams.stderr}
    heard = [_Heard(channel) for channel, is_wanted in wanted.items() if is_wanted]
    code = await first_of(
        _overheard(channels, attempt, heard, growth),
        _answered(channels, ear, heard),
        _hung_up(request),
    )
    await _closed(channels, None if code is None else outcomes.ended(0, ()))
    return socket


async def _opened(request: web.BaseRequest, streams: Streams) -> web.WebSocketResponse:
    socket = web.WebSocketResponse(
        protocols=PROTOCOLS, compress=False, max_msg_size=MESSAGE_LIMIT, timeout=CLOSE_S
    )
    ready = socket.can_prepare(request)
    if not ready.ok:
        # Without a colon: kubectl would take it for YAML, and show nothing of it.
        raise NotServed(
            400, "a websocket is needed, this home has no SPDY; use kubectl 1.30 or newer"
        )
    if not ready.protocol:
        raise NotServed(
            400, f"unable to upgrade: a websocket has to speak {' or '.join(PROTOCOLS)}"
        )
    await socket.prepare(request)
    # By which clients know that it has begun, as with a kubelet.
    first = Channel.STDERR if streams.stderr and not streams.stdout else Channel.STDOUT
    await Channels(socket).send(first, b"")
    return socket


async def _closed(channels: Channels, outcome: bytes | None) -> None:
    if outcome is not None:
        await channels.send(Channel.ERROR, outcome)
    await channels.close()


async def _ended(channels: Channels, found: Joined) -> int | None:
    """Passes on what the command says until it has ended and said all."""
    out, err = Latch(), Latch()
    async with background(
        _passed_on(found.stdout, channels, Channel.STDOUT, out),
        _passed_on(found.stderr, channels, Channel.STDERR, err),
    ):
        code = await found.wait()
        await out.wait()
        await err.wait()
    return code


async def _passed_on(end: End | None, channels: Channels, channel: Channel, done: Latch) -> None:
    while end and (chunk := await end.read()):
        if not await channels.send(channel, chunk):
            return  # whoever listens to the client knows, too
    done.open()


async def _listened(channels: Channels, found: Joined | Ear) -> int | None:
    """Does what the client says until it is gone."""
    while said := await channels.receive():
        match said:
            case Input(data=data) if found.stdin:
                if not await found.stdin.write(data):
                    found.close_stdin()
            case InputEnded():
                found.close_stdin()
            case Resized(width=columns, height=rows) if isinstance(found, Joined):
                found.resize(columns, rows)
    return None


async def _hung_up(request: web.BaseRequest) -> int | None:
    """Nothing can come any more, whatever has come and was not looked at yet."""
    assert request.transport is not None  # noqa: S101  # a request that is being answered has one
    connection = request.transport.get_extra_info("socket")
    with select.epoll() as waiting:
        waiting.register(connection.fileno(), select.EPOLLRDHUP | select.EPOLLHUP)
        await readable(waiting.fileno())
    return None


class _Heard:
    """One stream of a container."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.begun = Latch()
        self.done = Latch()


async def _overheard(
    channels: Channels, attempt: Attempt, heard: Sequence[_Heard], growth: Growth
) -> int | None:
    async with background(*(_log_passed_on(channels, attempt, each, growth) for each in heard)):
        for each in heard:
            await each.done.wait()
    with suppress(Retry):  # its keeper is just going
        await attempt.ended()
    return 0


async def _answered(channels: Channels, ear: Ear, heard: Sequence[_Heard]) -> int | None:
    for each in heard:
        await each.begun.wait()
    return await _listened(channels, ear)


async def _log_passed_on(
    channels: Channels, attempt: Attempt, heard: _Heard, growth: Growth
) -> None:
    async def put(chunk: bytes) -> None:
        await channels.send(heard.channel, chunk)

    wanted = Wanted(tail=0, is_followed=True, stream=heard.channel.name.lower())
    await logs.copy(attempt, wanted, put, growth, begun=heard.begun.open)
    heard.done.open()
