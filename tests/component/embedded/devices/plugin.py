"""A device plugin, as others write them: a program of its own that serves on a socket beside the kubelet's.

    python plugin.py RESOURCE SOCKET [--pre-start] [--preferences]      in the folder of the sockets

On its standard input it is told what becomes of its devices (`devices a b -c`, with a minus for one that is
ill) and to register (`register`, with a version perhaps); on its standard output it tells what it was asked.
"""

import json
import queue
import sys
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc

from kubevirt.rpc.messages import device_plugin_pb2 as messages

SERVICE = "v1beta1.DevicePlugin"


def tell(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


class Plugin:
    def __init__(self, resource: str, options: list[str]) -> None:
        self.resource = resource
        self.options = messages.DevicePluginOptions(
            pre_start_required="--pre-start" in options,
            get_preferred_allocation_available="--preferences" in options,
        )
        self.changes: queue.Queue[list[str]] = queue.Queue()

    def get_options(self, _: Any, __: Any) -> messages.DevicePluginOptions:
        return self.options

    def watch(self, _: Any, context: Any) -> Iterator[messages.ListAndWatchResponse]:
        tell(watched=True)
        while context.is_active():
            names = self.changes.get()
            yield messages.ListAndWatchResponse(
                devices=[
                    messages.Device(
                        ID=name.removeprefix("-"),
                        health="Unhealthy" if name.startswith("-") else "Healthy",
                        topology=messages.TopologyInfo(nodes=[messages.NUMANode(ID=0)]),
                    )
                    for name in names
                ]
            )

    def allocate(self, asked: messages.AllocateRequest, context: Any) -> messages.AllocateResponse:
        answer = messages.AllocateResponse()
        for each in asked.container_requests:
            ids = list(each.devices_ids)
            tell(allocated=ids)
            if "broken" in ids:
                context.abort(grpc.StatusCode.INTERNAL, "that one is broken")
            answer.container_responses.append(
                messages.ContainerAllocateResponse(
                    envs={"DEVICES": ",".join(ids)},
                    annotations={"example.com/devices": ",".join(ids)},
                    mounts=[
                        messages.Mount(
                            container_path="/shared",
                            host_path="/var/lib/kubelet/device-plugins",
                            read_only=True,
                        )
                    ],
                    devices=[
                        messages.DeviceSpec(
                            container_path=f"/dev/example/{name}",
                            host_path="/dev/null",
                            permissions="rw",
                        )
                        for name in ids
                        if "=" not in name
                    ],
                    # Described by a file of the machine.
                    cdi_devices=[messages.CDIDevice(name=name) for name in ids if "=" in name],
                )
            )
        return answer

    def prefer(
        self, asked: messages.PreferredAllocationRequest, _: Any
    ) -> messages.PreferredAllocationResponse:
        [one] = asked.container_requests
        tell(
            available=list(one.available_deviceIDs),
            included=list(one.must_include_deviceIDs),
            count=one.allocation_size,
        )
        last = sorted(one.available_deviceIDs)[-one.allocation_size :]
        answer = messages.ContainerPreferredAllocationResponse(deviceIDs=last)
        return messages.PreferredAllocationResponse(container_responses=[answer])

    def pre_start(
        self, asked: messages.PreStartContainerRequest, _: Any
    ) -> messages.PreStartContainerResponse:
        tell(started=list(asked.devices_ids))
        return messages.PreStartContainerResponse()

    def handlers(self) -> grpc.GenericRpcHandler:
        def unary(method: Any, request: Any) -> "grpc.RpcMethodHandler[Any, Any]":
            return grpc.unary_unary_rpc_method_handler(
                method,
                request_deserializer=request.FromString,
                response_serializer=lambda answer: answer.SerializeToString(),
            )

        return grpc.method_handlers_generic_handler(
            SERVICE,
            {
                "GetDevicePluginOptions": unary(self.get_options, messages.Empty),
                "Allocate": unary(self.allocate, messages.AllocateRequest),
                "GetPreferredAllocation": unary(self.prefer, messages.PreferredAllocationRequest),
                "PreStartContainer": unary(self.pre_start, messages.PreStartContainerRequest),
                "ListAndWatch": grpc.unary_stream_rpc_method_handler(
                    self.watch,
                    request_deserializer=messages.Empty.FromString,
                    response_serializer=messages.ListAndWatchResponse.SerializeToString,
                ),
            },
        )


def register(socket: str, plugin: Plugin, version: str) -> None:
    with grpc.insecure_channel("unix:kubelet.sock") as channel:
        ask: Any = channel.unary_unary(
            "/v1beta1.Registration/Register",
            request_serializer=messages.RegisterRequest.SerializeToString,
            response_deserializer=messages.Empty.FromString,
        )
        asked = messages.RegisterRequest(
            version=version, endpoint=socket, resource_name=plugin.resource, options=plugin.options
        )
        try:
            ask(asked, timeout=10)
            tell(registered=True)
        except grpc.RpcError as error:
            tell(refused=error.details())


def main() -> None:
    resource, socket, *options = sys.argv[1:]
    plugin = Plugin(resource, options)
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    server.add_generic_rpc_handlers((plugin.handlers(),))
    server.add_insecure_port(f"unix:{Path(socket).name}")
    server.start()
    for line in sys.stdin:
        match line.split():
            case ["devices", *names]:
                plugin.changes.put(names)
            case ["register", *version]:
                register(socket, plugin, "".join(version) or "v1beta1")
    server.stop(0)


if __name__ == "__main__":
    main()
