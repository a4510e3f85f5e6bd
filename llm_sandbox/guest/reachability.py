"""Probe of which addresses answer from inside of a pod.

Started as ``python -I -S -c 'from guest import reachability; reachability.main(...)'``; prints the
addresses that accepted a connection, as JSON.
"""

from __future__ import annotations

import json
import selectors
import socket
import time


def main(addresses: list[str], patience_s: float) -> None:
    """Entry point.

    Args:
        addresses: ``host:port`` of each, with an IPv4 address as host.
        patience_s: Seconds to wait for answers.
    """
    found = []
    deadline = time.monotonic() + patience_s
    with selectors.DefaultSelector() as selector:
        for address in addresses:
            host, _, port = address.rpartition(":")
            line = socket.socket()
            line.setblocking(False)
            # Ends in progress, or with an error such as "network is unreachable".
            line.connect_ex((host, int(port)))
            selector.register(line, selectors.EVENT_WRITE, (address, line))
        while selector.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                address, line = key.data
                if line.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
                    found.append(address)
                selector.unregister(line)
                line.close()
    print(json.dumps(found), flush=True)
