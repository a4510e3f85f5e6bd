"""HTTP/1.1 between a program and a host that secrets are bound to: no input or output."""

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
_KEPT_AS_THEY_ARE = frozenset(
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
"""Fields that say how the message is carried: nothing is put into them."""
_HTTPS_PORT = 443
_BODILESS = (204, 304)
_SWITCHING = 101


_USUAL = frozenset(f"{string.ascii_letters}{string.digits}+/=%-_.~\\&#;:".encode())
"""What values are made of, and what they are made of when they are encoded."""


class Scrubber:
    """Replaces words in a stream by others of the same length.

    Args:
        words: What is replaced, and by what.
    """

    def __init__(self, words: Mapping[bytes, bytes]) -> None:
        # The longest first: a shorter one may be part of it.
        self._words = sorted(words.items(), key=lambda pair: -len(pair[0]))
        self._longest = max(map(len, words), default=0)
        self._signs = _USUAL.union(*words)
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Take a piece in; returns what can be passed on.

        Letters, digits and signs at the end wait for the next piece, and nothing else does. Not
        only those that a word does begin with: whoever chooses what a host sends could guess one
        sign after the other, and see by what waits which guess was right.
        """
        data = self.clean(self._held + data)
        most = min(self._longest - 1, len(data))
        held = 0
        while held < most and data[-1 - held] in self._signs:
            held += 1
        self._held = data[len(data) - held :]
        return data[: len(data) - held]

    def flush(self) -> bytes:
        """Return what still waited."""
        held, self._held = self._held, b""
        return held

    def clean(self, data: bytes) -> bytes:
        """Replace words in something whole."""
        for word, other in self._words:
            if word in data:
                data = data.replace(word, other)
        return data


class HttpProxy:
    """One request after the other, each with its answer; what is to be sent waits in `to_server`
    and `to_client`.

    Args:
        name: The host.
        port: Its port.
        bound: The secrets that are bound to it.
        bindings: All of the sandbox's.
    """

    def __init__(self, name: str, port: int, bound: HostBindings, bindings: Bindings) -> None:
        self.to_server = bytearray()
        self.to_client = bytearray()
        self.over = False
        """Whether nothing follows what waits."""
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
        """Whether more of the program's bytes can be taken."""
        return len(self._from_client) < _MOST_WAITING

    # --- from the program

    def receive_from_client(self, data: bytes) -> None:
        """Take bytes of the program.

        Raises:
            Refusal: What it asks for is not sent on.
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
                return  # one after the other: the answer comes first
            while self._from_client[:2] == b"\r\n":
                del self._from_client[:2]
            head = read_request(self._from_client)
            if head is None:
                return
            self._begin(head)

    def _begin(self, head: RequestHead) -> None:
        self.requests += 1
        host = head.values("host")[0].lower()
        usual = (self._name,) if self._port == _HTTPS_PORT else ()
        if host not in (f"{self._name}:{self._port}", *usual):
            # Another site behind the same server would get what is meant for this one.
            raise Refusal("host_header", host[:253])
        allowed = self._bound.at(head.target, [name for name, _ in head.fields])
        text = "\n".join([head.target, *(f"{name}: {value}" for name, value in head.fields)])
        elsewhere = self._bindings.sent(text, allowed)
        if elsewhere is not None:
            raise Refusal("secret_elsewhere", elsewhere)
        fields = [*self._filled(head.fields, allowed), ("Accept-Encoding", "identity")]
        target = replace_in_target(head.target, allowed)
        self.to_server += RequestHead(head.version, fields, head.method, target).render()
        self._request = head
        self._keeps_open = head.keeps_open
        if head.chunked:
            self._upload = ChunkedBody()
        elif head.length:
            self._upload = SizedBody(head.length)

    def _filled(self, fields: Sequence[Field], allowed: Sequence[Binding]) -> list[Field]:
        filled = []
        for name, value in fields:
            # What is compressed cannot be searched for values on its way back.
            if name.lower() == "accept-encoding":
                continue
            kept = name.lower() in _KEPT_AS_THEY_ARE
            put = value if kept else replace_in_value(name, value, allowed)
            if put != value and name.lower() in ("authorization", "proxy-authorization"):
                word = put.rpartition(" ")[2].encode()
                self._words.setdefault(word, b"*" * len(word))
            filled.append((name, put))
        return filled

    # --- from the host

    def receive_from_server(self, data: bytes) -> None:
        """Take bytes of the host.

        Raises:
            Refusal: They cannot be read in one way alone.
        """
        if self._tunnels:
            # Each piece by itself: a message whose end waited might be what the next one waits for.
            self.to_client += self._scrubber.clean(data)
            return
        self._from_server += data
        while not self.over:
            if self._download is not None:
                piece = self._scrubber.feed(self._download.take(self._from_server))
                self.to_client += self._download.frame(piece)
                if not self._download.done:
                    return
                self._end_answer()
            elif not self._from_server:
                return
            elif self._request is None:
                self.over = True  # nobody asked
            else:
                head = read_response(self._from_server)
                if head is None:
                    return
                self._answer(head, self._request)

    def _answer(self, head: ResponseHead, request: RequestHead) -> None:
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

    def _end_answer(self) -> None:
        assert self._download is not None  # noqa: S101 - by who calls
        self.to_client += self._download.frame(self._scrubber.flush())
        self.to_client += self._download.end()
        self._download = None
        # Where the rest of a request would begin is not known to both sides.
        if not self._keeps_open or self._upload is not None:
            self.over = True
            return
        self._request = None
        self._serve_client()

    # --- ends

    def end_of_client(self) -> None:
        """The program sends nothing more.

        Raises:
            Refusal: In the middle of something.
        """
        if self.over:
            return
        if self._tunnels or (self._request is None and not self._from_client):
            self.over = True
        elif self._request is None or self._upload is not None:
            raise Refusal("http_malformed", "cut by the program")

    def end_of_server(self, *, clean: bool) -> None:
        """The host sends nothing more.

        Args:
            clean: Whether it said so, and the connection was not cut.

        Raises:
            Refusal: In the middle of something.
        """
        if isinstance(self._download, EndlessBody) and clean:
            self._end_answer()
        elif self._request is not None and not self._tunnels:
            raise Refusal(
                "http_malformed", "cut by the host", status="502 Bad Gateway", verdict="failed"
            )
        self.over = True

    @property
    def answering(self) -> bool:
        """Whether part of an answer was passed on, so that none of ours can be given."""
        return self._download is not None or self._tunnels


def _cleaned(scrubber: Scrubber, text: str) -> str:
    return scrubber.clean(text.encode("latin-1")).decode("latin-1")
