"""The wire between a node and a device plugin is Kubernetes', by name, number and type."""

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from tests.device_plugin_facts import FACTS, facts

from kubevirt.rpc.messages import device_plugin_pb2


def test_our_messages_are_those_of_kubernetes() -> None:
    ours = FileDescriptorProto()
    device_plugin_pb2.DESCRIPTOR.CopyToProto(ours)

    assert facts(ours) == FACTS
