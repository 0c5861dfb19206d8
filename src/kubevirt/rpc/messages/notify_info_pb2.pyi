from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class NotifyInfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class NotifyInfoResponse(_message.Message):
    __slots__ = ("supportedNotifyVersions", "supportedDomainVersions", "supportedK8SMetaAPIVersions", "supportedK8SEventAPIVersions")
    SUPPORTEDNOTIFYVERSIONS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTEDDOMAINVERSIONS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTEDK8SMETAAPIVERSIONS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTEDK8SEVENTAPIVERSIONS_FIELD_NUMBER: _ClassVar[int]
    supportedNotifyVersions: _containers.RepeatedScalarFieldContainer[str]
    supportedDomainVersions: _containers.RepeatedScalarFieldContainer[str]
    supportedK8SMetaAPIVersions: _containers.RepeatedScalarFieldContainer[str]
    supportedK8SEventAPIVersions: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, supportedNotifyVersions: _Optional[_Iterable[str]] = ..., supportedDomainVersions: _Optional[_Iterable[str]] = ..., supportedK8SMetaAPIVersions: _Optional[_Iterable[str]] = ..., supportedK8SEventAPIVersions: _Optional[_Iterable[str]] = ...) -> None: ...
