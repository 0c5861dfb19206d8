"""The other end of a unix socket: calls with a time limit, whose refusals are raised."""

from collections.abc import AsyncIterator
from typing import Any, Self, TypeVar

import grpc
import grpc.aio
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from kubevirt.rpc.errors import NoAnswer, Refused

M = TypeVar("M", bound=Message)

ANSWER_LIMIT = 64 << 20
"""Bytes: a screenshot of a large screen is the largest answer."""


class Caller:
    """One connection to one socket. It is made with the first call, and made again when it broke."""

    def __init__(self, path: str, what: str) -> None:
        self._what = what
        self._channel = grpc.aio.insecure_channel(
            f"unix:{path}",
            options=[
                ("grpc.max_receive_message_length", ANSWER_LIMIT),
                ("grpc.default_authority", "localhost"),
                # A launcher that restarts is back within a second; so are we.
                ("grpc.initial_reconnect_backoff_ms", 50),
                # Not a pause, as its name has it, but how long an attempt may take at the least.
                ("grpc.min_reconnect_backoff_ms", 10_000),
                ("grpc.max_reconnect_backoff_ms", 1000),
                ("grpc.enable_http_proxy", 0),
                ("grpc.use_local_subchannel_pool", 1),
            ],
        )

    async def close(self) -> None:
        await self._channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def call(
        self,
        service: ServiceDescriptor,
        method: str,
        request: Message,
        answer: type[M],
        limit_s: float,
    ) -> M:
        """The answer. Raises `Refused` with the other side's words, or `NoAnswer`."""
        named = service.methods_by_name[method]
        ask: Any = self._channel.unary_unary(
            f"/{service.full_name}/{method}",
            request_serializer=GetMessageClass(named.input_type).SerializeToString,
            response_deserializer=answer.FromString,
        )
        try:
            found: M = await ask(request, timeout=limit_s)
        except grpc.aio.AioRpcError as error:
            raise self._explained(error, method, limit_s) from None
        response: Any = getattr(found, "response", found)
        if "success" in response.DESCRIPTOR.fields_by_name and not response.success:
            raise Refused(response.message)
        return found

    async def stream(
        self, service: ServiceDescriptor, method: str, request: Message, answer: type[M]
    ) -> AsyncIterator[M]:
        """Answers as they come, until the other side ends them. Raises `NoAnswer` when it breaks off."""
        named = service.methods_by_name[method]
        ask: Any = self._channel.unary_stream(
            f"/{service.full_name}/{method}",
            request_serializer=GetMessageClass(named.input_type).SerializeToString,
            response_deserializer=answer.FromString,
        )
        try:
            async for found in ask(request):
                yield found
        except grpc.aio.AioRpcError as error:
            raise self._explained(error, method, 0) from None

    def _explained(self, error: grpc.aio.AioRpcError, method: str, limit_s: float) -> Exception:
        match error.code():
            case grpc.StatusCode.DEADLINE_EXCEEDED:
                return NoAnswer(f"{self._what} did not answer {method} within {limit_s:g} s")
            case grpc.StatusCode.UNAVAILABLE:
                return NoAnswer(f"{self._what} is not there: {error.details()}")
            case grpc.StatusCode.UNIMPLEMENTED:
                return Refused(f"{self._what} does not know {method}", reason="NotImplemented")
            case code:
                return NoAnswer(f"{self._what} failed at {method}: {code.name}: {error.details()}")
