"""Addresses of the Internet, as text."""

from ipaddress import AddressValueError, IPv4Address


def is_ipv4(text: str) -> bool:
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True
