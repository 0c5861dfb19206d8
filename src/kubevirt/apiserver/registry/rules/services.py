"""Services and API services: names that are part of others' names."""

from kubevirt.apiserver.registry.rules.rules import Rules
from kubevirt.apiserver.schema import names


class ServiceRules(Rules):
    """A service's name is the first label of its domain name."""

    def __init__(self) -> None:
        super().__init__(
            is_created_by_update=True, is_returned_when_deleted=True, name_rule=names.label_1035
        )


class ApiServiceRules(Rules):
    """Named VERSION.GROUP, where the group may be empty."""

    def __init__(self) -> None:
        super().__init__(name_rule=names.path_segment)
