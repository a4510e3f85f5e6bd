"""Classification of IP addresses: public, special-purpose, or of this computer."""

import ipaddress
import socket

__all__ = ["IpAddress", "IpNetwork", "is_own", "is_public", "is_unreachable", "special_range"]

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

# The registries of special-purpose addresses, and public-looking ones that clouds answer at.
_SPECIAL_4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "168.63.129.16/32",  # a cloud's own service on every machine
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
        ),
    )
)
_GLOBAL_6 = ipaddress.IPv6Network("2000::/3")
"""All that is assigned to the internet; every address outside of it is special."""
_SPECIAL_6 = tuple(
    map(
        ipaddress.IPv6Network,
        (
            "::1/128",
            "::ffff:0:0/96",  # IPv4 by another name
            "64:ff9b::/96",  # IPv4 behind a translator, as the next
            "64:ff9b:1::/48",
            "100::/64",
            "2001::/23",  # Teredo among others
            "2001:db8::/32",
            "2002::/16",  # 6to4: IPv4 by another name
            "3fff::/20",
            "5f00::/16",
            "fc00::/7",
            "fe80::/10",
            "fec0::/10",
            "ff00::/8",
        ),
    )
)
_NEVER = tuple(map(ipaddress.ip_network, ("0.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4", "::/128")))
_NEVER_6 = tuple(map(ipaddress.IPv6Network, ("ff00::/8", "::ffff:0:0/96")))


def special_range(address: IpAddress) -> IpNetwork | None:
    """Return the special-purpose range of an address; None for one of the public internet."""
    if isinstance(address, ipaddress.IPv4Address):
        return next((special for special in _SPECIAL_4 if address in special), None)
    found = next((special for special in _SPECIAL_6 if address in special), None)
    if found is None and address not in _GLOBAL_6:
        return ipaddress.IPv6Network(int(address))
    return found


def is_public(address: IpAddress) -> bool:
    """Return whether an address is one of the public internet."""
    return special_range(address) is None


def is_unreachable(address: IpAddress) -> bool:
    """Return whether no rule can allow an address: nothing answers there, or it is an alias."""
    return any(address in other for other in (*_NEVER, *_NEVER_6))


def is_own(address: IpAddress) -> bool:
    """Return whether an address is this computer's, by the kernel's routes; sends nothing."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as probe:
            probe.connect((str(address), 9))
            # A packet to an own address has it as its source too.
            source = ipaddress.ip_address(probe.getsockname()[0].partition("%")[0])
    except OSError:
        return False  # no route leads there
    return source == address
