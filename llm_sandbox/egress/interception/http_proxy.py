"""HTTP/1.1 proxy between a program and a host with bound secrets, without I/O.

Placeholders in requests are replaced by values, and values in responses by placeholders.
"""

import string
from collections.abc import Mapping, Sequence

from llm_sandbox.egress.bindings import Bindings, HostBindings, replace_in_target, replace_in_value
from llm_sandbox.egress.interception.http_messages import (
    Body,
    ChunkedBody,
    EndlessBody,
    Field,
    RequestHead,
    ResponseHead,
    SizedBody,
    read_request,
    read_response,
)
from llm_sandbox.egress.interception.refusal import Refusal
from llm_sandbox.secrets.plan import Binding

__all__ = ["HttpProxy", "Scrubber"]

_MOST_WAITING = 64 << 10
_FRAMING_FIELDS = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Fields of the framing, in which no placeholder is replaced."""
_HTTPS_PORT = 443
_BODILESS = (204, 304)
_SWITCHING = 101


_VALUE_CHARACTERS = frozenset(f"{string.ascii_letters}{string.digits}+/=%-_.~\\&#;:".encode())
"""Characters of values, plain or encoded."""


class Scrubber:
    """Stream filter that replaces words by others of the same length.

    Args:
        words: The words with their replacements.
    """

    def __init__(self, words: Mapping[bytes, bytes]) -> None:
        # The longest first: it may contain a shorter one.
        self._words = sorted(words.items(), key=lambda pair: -len(pair[0]))
        self._longest = max(map(len, words), default=0)
        self._characters = _VALUE_CHARACTERS.union(*words)
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Filter a piece of the stream, and return the part that can be passed on.

        All letters, digits and signs at the end wait for the next piece, and not only those with
        which a word begins: a party that chooses what a host sends could otherwise guess a word
        character by character, and see a right guess by the delay.
        """
        data = self.clean(self._held + data)
        most = min(self._longest - 1, len(data))
        held = 0
        while held < most and data[-1 - held] in self._characters:
            held += 1
        self._held = data[len(data) - held :]
        return data[: len(data) - held]

    def flush(self) -> bytes:
        """Return the part that still waited."""
        held, self._held = self._held, b""
        return held

    def clean(self, data: bytes) -> bytes:
        """Replace words in a complete text."""
        for word, other in self._words:
            if word in data:
                data = data.replace(word, other)
        return data


class HttpProxy:
    """Proxy of one connection: one request after the other, each with its response.

    Output waits in `to_server` and `to_client`.

    Args:
        name: The host.
        port: The host's port.
        bound: The secrets that are bound to the host.
        bindings: All secrets of the sandbox.
    """

    def __init__(self, name: str, port: int, bound: HostBindings, bindings: Bindings) -> None:
        self.to_server = bytearray()
        self.to_client = bytearray()
        self.over = False
        """Whether the connection ends after the waiting output."""
        self.requests = 0
        self._name = name
        self._port = port
        self._bound = bound
        self._bindings = bindings
        self._words = bound.words()
        self._from_client = bytearray()
        self._from_server = bytearray()
        self._request: RequestHead | None = None
        self._upload: Body | None = None
        self._download: Body | None = None
        self._scrubber = Scrubber({})
        self._keeps_open = True
        self._tunnels = False

    @property
    def wants_client(self) -> bool:
        """Whether more bytes of the program can be received."""
        return len(self._from_client) < _MOST_WAITING

    # --- from the program

    def receive_from_client(self, data: bytes) -> None:
        """Process bytes of the program.

        Raises:
            Refusal: The request is refused.
        """
        if self._tunnels:
            self.to_server += data
            return
        self._from_client += data
        self._serve_client()

    def _serve_client(self) -> None:
        while not self.over:
            if self._upload is not None:
                piece = self._upload.take(self._from_client)
                self.to_server += self._upload.frame(piece)
                if not self._upload.done:
                    return
                self.to_server += self._upload.end()
                self._upload = None
            if self._request is not None:
                return  # no pipelining: the response comes first
            while self._from_client[:2] == b"\r\n":
                del self._from_client[:2]
            head = read_request(self._from_client)
            if head is None:
                return
            self._begin_request(head)

    def _begin_request(self, head: RequestHead) -> None:
        self.requests += 1
        host = head.values("host")[0].lower()
        usual = (self._name,) if self._port == _HTTPS_PORT else ()
        if host not in (f"{self._name}:{self._port}", *usual):
            # Another site behind the same server would get the secrets of this one.
            raise Refusal("host_header", host[:253])
        allowed = self._bound.at(head.target, [name for name, _ in head.fields])
        text = "\n".join([head.target, *(f"{name}: {value}" for name, value in head.fields)])
        elsewhere = self._bindings.sent(text, allowed)
        if elsewhere is not None:
            raise Refusal("secret_elsewhere", elsewhere)
        fields = [
            *self._replace_placeholders(head.fields, allowed),
            ("Accept-Encoding", "identity"),
        ]
        target = replace_in_target(head.target, allowed)
        self.to_server += RequestHead(head.version, fields, head.method, target).render()
        self._request = head
        self._keeps_open = head.keeps_open
        if head.chunked:
            self._upload = ChunkedBody()
        elif head.length:
            self._upload = SizedBody(head.length)

    def _replace_placeholders(
        self, fields: Sequence[Field], allowed: Sequence[Binding]
    ) -> list[Field]:
        filled = []
        for name, value in fields:
            # A compressed response cannot be searched for values.
            if name.lower() == "accept-encoding":
                continue
            kept = name.lower() in _FRAMING_FIELDS
            put = value if kept else replace_in_value(name, value, allowed)
            if put != value and name.lower() in ("authorization", "proxy-authorization"):
                word = put.rpartition(" ")[2].encode()
                self._words.setdefault(word, b"*" * len(word))
            filled.append((name, put))
        return filled

    # --- from the host

    def receive_from_server(self, data: bytes) -> None:
        """Process bytes of the host.

        Raises:
            Refusal: They are invalid or ambiguous.
        """
        if self._tunnels:
            # Nothing is held back: the peers may wait for the end of this message.
            self.to_client += self._scrubber.clean(data)
            return
        self._from_server += data
        while not self.over:
            if self._download is not None:
                piece = self._scrubber.feed(self._download.take(self._from_server))
                self.to_client += self._download.frame(piece)
                if not self._download.done:
                    return
                self._end_response()
            elif not self._from_server:
                return
            elif self._request is None:
                self.over = True  # bytes without a request
            else:
                head = read_response(self._from_server)
                if head is None:
                    return
                self._begin_response(head, self._request)

    def _begin_response(self, head: ResponseHead, request: RequestHead) -> None:
        whole = Scrubber(self._words)
        fields = [(_cleaned(whole, name), _cleaned(whole, value)) for name, value in head.fields]
        phrase = _cleaned(whole, head.phrase)
        self.to_client += ResponseHead(head.version, fields, head.status, phrase).render()
        if head.status == _SWITCHING:
            if not request.upgrades or self._upload is not None:
                raise Refusal("http_malformed", "upgrade", status="502 Bad Gateway")
            self._scrubber = whole
            self._tunnels = True
            self.to_server += self._from_client
            self.to_client += whole.clean(bytes(self._from_server))
            self._from_client.clear()
            self._from_server.clear()
            self.over = False
            return
        if head.status < 200:
            return
        self._keeps_open = self._keeps_open and head.keeps_open
        self._scrubber = whole
        if request.method == "HEAD" or head.status in _BODILESS:
            self._download = SizedBody(0)
        elif head.chunked:
            self._download = ChunkedBody()
        elif head.length is not None:
            self._download = SizedBody(head.length)
        else:
            self._download = EndlessBody()
            self._keeps_open = False

    def _end_response(self) -> None:
        assert self._download is not None  # noqa: S101 - by the callers
        self.to_client += self._download.frame(self._scrubber.flush())
        self.to_client += self._download.end()
        self._download = None
        # Both sides may disagree on where the rest of the request ends.
        if not self._keeps_open or self._upload is not None:
            self.over = True
            return
        self._request = None
        self._serve_client()

    # --- ends

    def end_of_client(self) -> None:
        """Process the end of the program's stream.

        Raises:
            Refusal: A request is incomplete.
        """
        if self.over:
            return
        if self._tunnels or (self._request is None and not self._from_client):
            self.over = True
        elif self._request is None or self._upload is not None:
            raise Refusal("http_malformed", "cut by the program")

    def end_of_server(self, *, clean: bool) -> None:
        """Process the end of the host's stream.

        Args:
            clean: Whether TLS was closed properly, and the connection not cut.

        Raises:
            Refusal: A response is incomplete.
        """
        if isinstance(self._download, EndlessBody) and clean:
            self._end_response()
        elif self._request is not None and not self._tunnels:
            raise Refusal(
                "http_malformed", "cut by the host", status="502 Bad Gateway", verdict="failed"
            )
        self.over = True

    @property
    def answering(self) -> bool:
        """Whether part of a response was passed on, so that no error response can be sent."""
        return self._download is not None or self._tunnels


def _cleaned(scrubber: Scrubber, text: str) -> str:
    return scrubber.clean(text.encode("latin-1")).decode("latin-1")
