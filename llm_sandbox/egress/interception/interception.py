"""What a gate has for the placeholders of its sandbox."""

import re
import socket
import ssl
from collections.abc import Iterable, Mapping
from typing import Any

from llm_sandbox.egress.bindings import Bindings
from llm_sandbox.egress.interception.authority import Authority
from llm_sandbox.egress.interception.exchange import Exchange
from llm_sandbox.egress.interception.refusal import Refusal
from llm_sandbox.secrets.plan import Binding

__all__ = ["Interception"]

_FIRST_LINE = re.compile(rb"[A-Z]{1,16}(?: [!-~]*(?: (?:HTTP/?[0-9.]*)?)?)?\r?", re.ASCII)
_REQUEST = re.compile(rb"[A-Z]{1,16} [!-~]+ HTTP/[0-9.]+\r?\n", re.ASCII)
_LARGEST_HEAD = 32 << 10


class Interception:
    """Says which connections are intercepted, and what they are intercepted with.

    Args:
        bindings: Fields of each `Binding`.
        trusted: Certificates of the authorities that hosts are proved by, as PEM.
    """

    def __init__(self, bindings: Iterable[Mapping[str, Any]], trusted: str) -> None:
        self.bindings = Bindings(
            [
                Binding(
                    name=str(one["name"]),
                    hosts=tuple(one["hosts"]),
                    query=tuple(one["query"]),
                    placeholder=str(one["placeholder"]),
                    value=str(one["value"]),
                )
                for one in bindings
            ]
        )
        self.authority = Authority(self.bindings.names())
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        """What connections to hosts are made by."""
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.context.set_alpn_protocols(["http/1.1"])
        self.context.load_verify_locations(cadata=trusted)

    def exchange(
        self, client: socket.socket, server: socket.socket, name: str | None, port: int
    ) -> Exchange | None:
        """What carries a connection in place of its bytes; None where nothing is bound."""
        bound = self.bindings.bound(name, port)
        if bound is None or name is None:
            return None
        return Exchange(self, client, server, name, port, bound)

    def clear(self, data: bytes, name: str | None, *, ended: bool) -> bool:
        """Look at how a connection begins that is not intercepted.

        Args:
            data: What the program has sent.
            name: The name that it goes to; None for an address.
            ended: Whether nothing follows.

        Returns:
            Whether it may go on; False to be asked again with more.

        Raises:
            Refusal: It is HTTP, and would take a placeholder where it does not belong.
        """
        # trust: comes from inside. What is missed here takes a placeholder out, which is worth
        # nothing there.
        if _REQUEST.match(data) is None:
            begins = b"\n" not in data and _FIRST_LINE.fullmatch(data) is not None
            return ended or not begins or len(data) >= _LARGEST_HEAD
        if self.bindings.names_host(name):
            raise Refusal("secret_in_clear")
        head, end, _ = data.replace(b"\r\n", b"\n").partition(b"\n\n")
        found = self.bindings.sent(head.decode("latin-1"))
        if found is not None:
            raise Refusal("secret_elsewhere", found)
        return bool(end) or ended or len(data) >= _LARGEST_HEAD
