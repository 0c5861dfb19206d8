"""A gRPC server on a unix socket, for services that are plain objects.

A service's methods are those of its .proto in Python's spelling: `SyncVirtualMachine` is answered by
`sync_virtual_machine(request)`. A method that the object lacks is answered UNIMPLEMENTED, as grpc does for
every name it does not know. One that answers with a stream is an async generator.

Calls fail inside the answer, not with a status of gRPC: that is how our protocols were made. So errors
of the house become `success: false` and their own sentence, and a bug becomes one too, with a stack trace in
the log. An answer that has no room for that is one of Kubernetes' own protocols, which do use the status.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

import grpc
import grpc.aio
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from kubevirt.base.errors import UserError, is_bug
from kubevirt.base.log import get_logger

log = get_logger(__name__)

MESSAGE_LIMIT = 16 << 20
"""Bytes of a request: a VMI with its whole status is a thousandth of it."""
CLOSE_S = 1.0
"""How long calls that are under way may go on when the server closes."""

Behaviour = Callable[[Any], Awaitable[Message]]
Context = grpc.aio.ServicerContext[Any, Any]


@asynccontextmanager
async def serving(path: str, services: Mapping[ServiceDescriptor, object]) -> AsyncIterator[None]:
    """Serves while the body runs. Whoever may open the socket may call: it is made for its owner only."""
    server = grpc.aio.server(
        options=[("grpc.max_receive_message_length", MESSAGE_LIMIT), ("grpc.so_reuseport", 0)]
    )
    server.add_generic_rpc_handlers(
        tuple(_handlers(service, answering) for service, answering in services.items())
    )
    _listen(server, path)
    started = asyncio.create_task(server.start())
    try:
        await asyncio.shield(started)
        yield
    finally:
        await asyncio.shield(_stopped(server, started))


async def _stopped(server: grpc.aio.Server, started: asyncio.Task[None]) -> None:
    """Once it has started: gRPC's breaks if that is cut short, and goes on to run."""
    await started
    await server.stop(CLOSE_S)


def _listen(server: grpc.aio.Server, path: str) -> None:
    before = os.umask(0o077)
    try:
        server.add_insecure_port(f"unix:{path}")
    except RuntimeError as error:
        raise OSError(f"cannot listen on {path}: {error}") from None
    finally:
        os.umask(before)


def _handlers(service: ServiceDescriptor, answering: object) -> grpc.GenericRpcHandler:
    found = {
        method.name: _handler(method, behaviour)
        for method in service.methods
        if (behaviour := getattr(answering, python_name(method.name), None)) is not None
    }
    return grpc.method_handlers_generic_handler(service.full_name, found)


def _handler(method: MethodDescriptor, behaviour: Behaviour) -> "grpc.RpcMethodHandler[Any, Any]":
    if method.server_streaming:
        return _streaming_handler(method, behaviour)
    answer_type = GetMessageClass(method.output_type)

    async def answer(request: Message, context: Context) -> Message:
        try:
            return await behaviour(request)
        except Exception as error:  # told to the caller, and logged if it is a bug
            if is_bug(error):
                log.exception("a call failed", call=method.name)
            if not _has_room_for_failure(answer_type):
                await context.abort(_status(error), _sentence(error))
            return failed(answer_type, error)

    return grpc.unary_unary_rpc_method_handler(
        answer,
        request_deserializer=GetMessageClass(method.input_type).FromString,
        response_serializer=answer_type.SerializeToString,
    )


def _streaming_handler(
    method: MethodDescriptor, behaviour: Callable[[Any], Any]
) -> "grpc.RpcMethodHandler[Any, Any]":
    async def answer(request: Message, _: Context) -> AsyncIterator[Message]:
        async with aclosing(behaviour(request)) as answers:
            async for each in answers:
                yield each

    return grpc.unary_stream_rpc_method_handler(
        answer,
        request_deserializer=GetMessageClass(method.input_type).FromString,
        response_serializer=GetMessageClass(method.output_type).SerializeToString,
    )


def failed(answer_type: type[Message], error: Exception) -> Message:
    """An answer that says no. Its type is `Response`, or has one in its first field."""
    answer = answer_type()
    response: Any = getattr(answer, "response", answer)
    response.success = False
    response.message = _sentence(error)
    return answer


def _has_room_for_failure(answer_type: type[Message]) -> bool:
    answer = answer_type()
    response: Any = getattr(answer, "response", answer)
    return "success" in response.DESCRIPTOR.fields_by_name


def _status(error: Exception) -> grpc.StatusCode:
    if isinstance(error, UserError):
        return grpc.StatusCode.INVALID_ARGUMENT
    return grpc.StatusCode.INTERNAL if is_bug(error) else grpc.StatusCode.UNAVAILABLE


def _sentence(error: Exception) -> str:
    return str(error) or type(error).__name__


def python_name(method: str) -> str:
    """`GetSEVInfo` as `get_sev_info`, `SyncVirtualMachineCPUs` as `sync_virtual_machine_cpus`."""
    words = re.sub(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])(?!s\b|$)", r"\1\3_\2\4", method)
    return words.lower()
