"""A client that does to new instances what virt-api's webhook does, for servers without one."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.resource import Resource
from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES
from kubevirt.base.clock import SystemClock
from kubevirt.kube.access.config import Config
from kubevirt.kube.client import Client
from kubevirt.kube.http.calls import FieldValidation
from kubevirt.virt.defaults.admitted import new_instance

T = TypeVar("T")


class AdmittingClient(Client):
    def __init__(
        self,
        config: Config,
        configuration: Callable[[], KubeVirtConfiguration] = KubeVirtConfiguration,
        **options: Any,
    ) -> None:
        super().__init__(config, **options)
        self._configuration = configuration

    async def create(
        self,
        resource: Resource[T],
        obj: T | Mapping[str, Any],
        namespace: str | None = None,
        *,
        dry_run: bool = False,
        field_manager: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> T:
        if resource.group_resource == VIRTUAL_MACHINE_INSTANCES.group_resource:
            obj = self._admitted(obj)
        return await super().create(
            resource,
            obj,
            namespace,
            dry_run=dry_run,
            field_manager=field_manager,
            field_validation=field_validation,
        )

    def _admitted(self, obj: Any) -> Mapping[str, Any]:
        vmi = msgspec.convert(obj, VirtualMachineInstance, from_attributes=True)
        now = SystemClock().now().replace(microsecond=0)
        whole: Mapping[str, Any] = msgspec.to_builtins(
            new_instance(vmi, self._configuration(), now)
        )
        return whole
