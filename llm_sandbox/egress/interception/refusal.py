"""Refusal of an intercepted connection."""

__all__ = ["Refusal"]


class Refusal(Exception):
    """Refusal of a request or connection.

    Args:
        reason: Stable word for the event; see `NetworkEvent.hint`.
        detail: More information; never a value of a secret.
        status: Status of the response that the program gets, if one is possible.
        protocol: The protocol that refused it: ``tls`` or ``http``.
        verdict: ``denied`` or ``failed``.
    """

    def __init__(
        self,
        reason: str,
        detail: str = "",
        *,
        status: str = "403 Forbidden",
        protocol: str = "http",
        verdict: str = "denied",
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        self.status = status
        self.protocol = protocol
        self.verdict = verdict

    def answer(self) -> bytes:
        """Return the HTTP response for the program."""
        text = f"llm-sandbox: this request was not sent on: {self.reason}\n"
        return (
            f"HTTP/1.1 {self.status}\r\nContent-Type: text/plain\r\nConnection: close\r\n"
            f"Content-Length: {len(text)}\r\n\r\n{text}"
        ).encode("ascii")
