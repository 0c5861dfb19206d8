"""Kubernetes' device plugin API v1beta1: services, messages, numbers and types, as facts.

What we are built from is held to them (`unit/embedded/devices/test_contract.py`), and they to Kubernetes' own file
(`component/embedded/devices/test_upstream.py`).
"""

from collections.abc import Iterator

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    MethodDescriptorProto,
)

FACTS = """\
package v1beta1, proto3
AllocateRequest
  1 container_requests [ContainerAllocateRequest]
AllocateResponse
  1 container_responses [ContainerAllocateResponse]
CDIDevice
  1 name string
ContainerAllocateRequest
  1 devices_ids [string]
ContainerAllocateResponse
  1 envs {string: string}
  2 mounts [Mount]
  3 devices [DeviceSpec]
  4 annotations {string: string}
  5 cdi_devices [CDIDevice]
ContainerPreferredAllocationRequest
  1 available_deviceIDs [string]
  2 must_include_deviceIDs [string]
  3 allocation_size int32
ContainerPreferredAllocationResponse
  1 deviceIDs [string]
Device
  1 ID string
  2 health string
  3 topology TopologyInfo
DevicePlugin
  Allocate(AllocateRequest) AllocateResponse
  GetDevicePluginOptions(Empty) DevicePluginOptions
  GetPreferredAllocation(PreferredAllocationRequest) PreferredAllocationResponse
  ListAndWatch(Empty) stream ListAndWatchResponse
  PreStartContainer(PreStartContainerRequest) PreStartContainerResponse
DevicePluginOptions
  1 pre_start_required bool
  2 get_preferred_allocation_available bool
DeviceSpec
  1 container_path string
  2 host_path string
  3 permissions string
Empty
ListAndWatchResponse
  1 devices [Device]
Mount
  1 container_path string
  2 host_path string
  3 read_only bool
NUMANode
  1 ID int64
PreStartContainerRequest
  1 devices_ids [string]
PreStartContainerResponse
PreferredAllocationRequest
  1 container_requests [ContainerPreferredAllocationRequest]
PreferredAllocationResponse
  1 container_responses [ContainerPreferredAllocationResponse]
RegisterRequest
  1 version string
  2 endpoint string
  3 resource_name string
  4 options DevicePluginOptions
Registration
  Register(RegisterRequest) Empty
TopologyInfo
  1 nodes [NUMANode]
"""


def facts(file: FileDescriptorProto) -> str:
    """What a file says, in the same form."""
    parts = {each.name: sorted(map(_method, each.method)) for each in file.service}
    parts |= {each.name: [*_fields(each)] for each in file.message_type}
    lines = [f"package {file.package}, {file.syntax or 'proto2'}"]
    for name in sorted(parts):
        lines += [name, *(f"  {line}" for line in parts[name])]
    return "\n".join(lines) + "\n"


def _method(method: MethodDescriptorProto) -> str:
    asks = "stream " if method.client_streaming else ""
    answers = "stream " if method.server_streaming else ""
    asked, answer = (each.rpartition(".")[2] for each in (method.input_type, method.output_type))
    return f"{method.name}({asks}{asked}) {answers}{answer}"


def _fields(message: DescriptorProto) -> Iterator[str]:
    entries = {each.name: each for each in message.nested_type if each.options.map_entry}
    for field in sorted(message.field, key=lambda each: each.number):
        type_ = _type(field)
        if type_ in entries:
            key, value = (_type(each) for each in entries[type_].field)
            type_ = f"{{{key}: {value}}}"
        elif field.label == FieldDescriptorProto.LABEL_REPEATED:
            type_ = f"[{type_}]"
        yield f"{field.number} {field.name} {type_}"


def _type(field: FieldDescriptorProto) -> str:
    if field.type_name:
        return field.type_name.rpartition(".")[2]
    return FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
