from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class CmdInfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CmdInfoResponse(_message.Message):
    __slots__ = ("supportedCmdVersions", "supportedKubeVirtAPIVersions", "supportedDomainVersions", "supportedDomainStatsVersions")
    SUPPORTEDCMDVERSIONS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTEDKUBEVIRTAPIVERSIONS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTEDDOMAINVERSIONS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTEDDOMAINSTATSVERSIONS_FIELD_NUMBER: _ClassVar[int]
    supportedCmdVersions: _containers.RepeatedScalarFieldContainer[str]
    supportedKubeVirtAPIVersions: _containers.RepeatedScalarFieldContainer[str]
    supportedDomainVersions: _containers.RepeatedScalarFieldContainer[str]
    supportedDomainStatsVersions: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, supportedCmdVersions: _Optional[_Iterable[str]] = ..., supportedKubeVirtAPIVersions: _Optional[_Iterable[str]] = ..., supportedDomainVersions: _Optional[_Iterable[str]] = ..., supportedDomainStatsVersions: _Optional[_Iterable[str]] = ...) -> None: ...
