"""The name under which a device is found again: in events, in hotplug, in statistics."""

from kubevirt.virt.domain.xml.element import Attr, Element

USER_PREFIX = "ua-"
"""libvirt leaves a name to its user only under this prefix."""


class Alias(Element, frozen=True, kw_only=True):
    name: Attr[str]
