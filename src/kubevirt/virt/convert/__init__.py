"""From a VMI to a libvirt domain, one noun per file; `conversion.py` puts them together."""
