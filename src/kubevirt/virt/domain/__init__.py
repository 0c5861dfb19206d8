"""libvirt's domain as typed values: one element, one small class; `xml/` reads and writes them."""
