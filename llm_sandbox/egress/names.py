"""Addresses that stand for names: what a sandbox is told instead of where a name really is."""

import collections
import ipaddress

from llm_sandbox.network import SYNTHETIC_RANGE

__all__ = ["SyntheticNames"]

_MOST = 65536


class SyntheticNames:
    """Gives names addresses of a range that nothing on the internet is in.

    Args:
        most: How many names are known at once; beyond that the one asked for longest ago is
            forgotten, and its address not given again before all others were.
    """

    def __init__(self, most: int = _MOST) -> None:
        self.range = ipaddress.IPv4Network(SYNTHETIC_RANGE)
        self._most = most
        self._next = 0
        self._by_name: collections.OrderedDict[str, int] = collections.OrderedDict()
        self._by_address: dict[int, str] = {}

    def address(self, name: str) -> ipaddress.IPv4Address:
        """The address that stands for a name."""
        if name not in self._by_name:
            if len(self._by_name) >= self._most:
                _, forgotten = self._by_name.popitem(last=False)
                del self._by_address[forgotten]
            # More addresses than names, so that a free one comes.
            usable = self.range.num_addresses - 2
            while (number := 1 + self._next % usable) in self._by_address:
                self._next += 1
            self._next += 1
            self._by_name[name] = number
            self._by_address[number] = name
        self._by_name.move_to_end(name)
        return self.range[self._by_name[name]]

    def name(self, address: ipaddress.IPv4Address) -> str | None:
        """The name that an address stands for; None if it stands for none."""
        return self._by_address.get(int(address) - int(self.range.network_address))

    def __contains__(self, address: object) -> bool:
        return address in self.range
